// What a pane's script prints, as a terminal shows it, and the field where it asks for a line.

/** The most output that a pane shows, in characters: the oldest goes first. */
const SHOWN = 200_000;
/** Colours and movements of a terminal, which a page has no use for. */
const CODES = /\x1b\[[\d;?]*[A-Za-z]/g;

export class Output {
  #shown;
  #length = 0;
  /** All that was printed, for taking away, as long as it is shown. */
  get text() {
    return this.#shown.textContent;
  }

  constructor(element) {
    this.#shown = element;
  }

  clear() {
    this.#shown.replaceChildren();
    this.#length = 0;
    this.ask(null);
  }

  /** Adds text; `\r` begins the line anew. */
  write(text, className = "") {
    const output = this.#shown;
    const below = output.scrollHeight - output.scrollTop - output.clientHeight < 24;
    for (const [i, part] of text.replace(CODES, "").replaceAll("\r\n", "\n").split("\r").entries()) {
      if (i > 0) this.#carriage();
      const last = output.lastChild;
      if (last && last.className === className) last.append(part);
      else if (part) output.append(Object.assign(document.createElement("span"), { className, textContent: part }));
      this.#length += part.length;
    }
    while (this.#length > SHOWN && output.firstChild) {
      const [first, over] = [output.firstChild, this.#length - SHOWN];
      const had = first.textContent.length;
      if (had <= over) first.remove();
      else first.textContent = first.textContent.slice(over);
      this.#length -= Math.min(had, over);
    }
    if (below) output.scrollTop = output.scrollHeight;
  }

  /** The last line goes, in whichever pieces it was written. */
  #carriage() {
    for (let last = this.#shown.lastChild; last; last = this.#shown.lastChild) {
      const text = last.textContent;
      const kept = text.slice(0, text.lastIndexOf("\n") + 1);
      this.#length -= text.length - kept.length;
      if (kept) return void (last.textContent = kept);
      last.remove();
    }
  }

  get asks() {
    return this.#shown.parentElement.querySelector(".ask") !== null;
  }

  /** Shows a field for a line of input, `answer(line)` takes it; `null` takes the field away. */
  ask(answer) {
    this.#shown.parentElement.querySelector(".ask")?.remove();
    if (!answer) return;
    const form = Object.assign(document.createElement("form"), { className: "ask" });
    const field = Object.assign(document.createElement("input"), { ariaLabel: "The script asks for a line of input", autocomplete: "off", spellcheck: false });
    const send = Object.assign(document.createElement("button"), { textContent: "Enter" });
    form.append(field, send);
    form.onsubmit = (e) => {
      e.preventDefault();
      form.remove();
      answer(field.value);
    };
    this.#shown.after(form);
    field.focus();
  }
}
