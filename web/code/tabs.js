// The script and the files beside it (modules that it imports, small data), one of them in the editor.

/** So many files, and so many characters of one, are kept beside a script. */
const FILES = 16;
const LONGEST = 1 << 20;

export class Tabs {
  #bar;
  #editor;
  #changed;
  #main = "script.py";
  #texts = new Map();
  #active = "script.py";
  /** The field that asks for a new file's name, while it does. */
  #asking = null;

  /** `changed()` follows when a file comes or goes. */
  constructor(bar, editor, changed) {
    this.#bar = bar;
    this.#editor = editor;
    this.#changed = changed;
  }

  /** Opens a script with the files beside it, `{ name: text }`. */
  open(name, text, files = {}) {
    this.#main = this.#active = name;
    this.#texts = new Map([[name, text], ...Object.entries(files).slice(0, FILES).map(([n, t]) => [n, String(t).slice(0, LONGEST)])]);
    this.#editor.isPython = true;
    this.#editor.text = text;
    this.#draw();
  }

  /** The script's text. */
  get script() {
    return this.#text(this.#main);
  }

  /** The other files, `{ name: text }`. */
  get files() {
    return Object.fromEntries([...this.#texts.keys()].filter((name) => name !== this.#main).map((name) => [name, this.#text(name)]));
  }

  /** The name of what is in the editor. */
  get active() {
    return this.#active;
  }

  get isScript() {
    return this.#active === this.#main;
  }

  #text(name) {
    return name === this.#active ? this.#editor.text : this.#texts.get(name);
  }

  /** Shows a file. */
  show(name) {
    if (name === this.#active || !this.#texts.has(name)) return;
    this.#texts.set(this.#active, this.#editor.text);
    this.#active = name;
    this.#editor.isPython = /\.py$/.test(name);
    this.#editor.text = this.#texts.get(name);
    this.#draw();
  }

  /** Adds a file and shows it. */
  add(name, text = "") {
    if (!/^[\w][\w.-]*$/.test(name) || (this.#texts.size > FILES && !this.#texts.has(name))) return false;
    if (!this.#texts.has(name)) this.#texts.set(name, text);
    this.show(name);
    this.#changed();
    return true;
  }

  #remove(name) {
    if (name === this.#active) this.show(this.#main);
    this.#texts.delete(name);
    this.#draw();
    this.#changed();
  }

  #button(text, properties, act) {
    return Object.assign(document.createElement("button"), { type: "button", textContent: text, onclick: act, ...properties });
  }

  #draw() {
    const shown = [...this.#texts.keys()].flatMap((name) => {
      const tab = this.#button(name, { className: "tab" }, () => this.show(name));
      tab.setAttribute("aria-pressed", String(name === this.#active));
      const away = this.#button("×", { className: "quiet", ariaLabel: `Remove ${name}` }, () => this.#remove(name));
      return name === this.#main ? [tab] : [tab, away];
    });
    const add = this.#button("+", { className: "quiet", ariaLabel: "Add a file beside the script", title: "A module for the script to import, or a small file for it to read" }, () => {
      const field = Object.assign(document.createElement("input"), { ariaLabel: "Name of the file", placeholder: "helper.py", spellcheck: false });
      field.onkeydown = (e) => {
        if (e.key === "Enter") this.add(field.value.trim()) || this.#draw();
        if (e.key === "Escape") this.#draw();
      };
      field.onblur = () => field === this.#asking && this.#draw();
      add.replaceWith(field);
      this.#asking = field;
      field.focus();
    });
    // A field that has the focus loses it while it is taken away: nothing may be drawn then.
    this.#asking = null;
    this.#bar.replaceChildren(...shown, add);
  }
}
