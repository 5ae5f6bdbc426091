// <aludel-playground preset="points" mode="race"></aludel-playground>
//
// A playground in any page. Attributes are the page's own parameters (preset, mode, and every hyperparameter: lr, batch,
// layers, seed, ...). It lives in an iframe: its styles and its worker are its own, and it comes from where this script does.
const home = new URL("./", import.meta.url);
const own = new Set(["style", "class", "id", "height", "title", "slot", "hidden"]);

class AludelPlayground extends HTMLElement {
  connectedCallback() {
    if (this.firstElementChild) return;
    const url = new URL("index.html", home);
    url.searchParams.set("embed", "1");
    for (const { name, value } of this.attributes) if (!own.has(name)) url.searchParams.set(name, value);
    const frame = document.createElement("iframe");
    frame.src = url;
    frame.title = this.getAttribute("title") ?? "Aludel playground";
    frame.loading = "lazy";
    frame.allow = "clipboard-write; webgpu";
    frame.style.cssText = `width: 100%; height: ${Number(this.getAttribute("height")) || 720}px; border: 0; border-radius: 12px; color-scheme: light dark;`;
    this.style.display ||= "block";
    this.append(frame);
  }
}

customElements.define("aludel-playground", AludelPlayground);

// <aludel-code>print("hello")</aludel-code>, or <aludel-code src="train.py" args="--steps 100"></aludel-code>
//
// A script that a reader may change and run, in an iframe too. It is as high as it has to be, and runs by itself only with `autorun`.
// `show` names what is there (editor, output, plot, panes, inspector), `mode` how it runs (eager, compiled, both), `device="wasm"` keeps
// it off the GPU, `readonly` and `hidden-lines` are lines as in `1-3,7`. Listings with the same `session` share it in their order: before
// one runs, those before it do.
const OPTIONS = { show: "show", mode: "mode", device: "device", readonly: "readonly", "hidden-lines": "hidden", session: "session" };

class AludelCode extends HTMLElement {
  /** The script as the reader left it. */
  #text = "";

  async connectedCallback() {
    if (this.querySelector(":scope > iframe")) return;
    const own = unindented(this.textContent);
    this.textContent = "";
    this.style.display ||= "block";
    const frame = document.createElement("iframe");
    frame.title = this.getAttribute("title") ?? "Aludel code";
    frame.loading = "lazy";
    frame.allow = "clipboard-write; webgpu";
    frame.style.cssText = "width: 100%; height: 420px; border: 0; color-scheme: light dark;";
    addEventListener("message", ({ source, data }) => {
      if (source !== frame.contentWindow) return;
      if (data?.aludel === "height") frame.style.height = `${Math.min(4000, Number(data.height) || 420)}px`;
      if (data?.aludel === "text") this.#text = String(data.text);
      if (data?.aludel === "before") source.postMessage({ aludel: "before", texts: this.#before() }, "*");
    });
    this.append(frame);
    const from = this.getAttribute("src");
    const { fragment } = await import(new URL("code/draft.js", home));
    this.#text = from ? await (await fetch(from)).text() : own;
    const script = { name: this.getAttribute("name") ?? from?.split("/").at(-1) ?? "script.py", text: this.#text, args: this.getAttribute("args") ?? "" };
    const url = new URL("code.html?embed=1", home);
    for (const [attribute, name] of Object.entries(OPTIONS)) if (this.hasAttribute(attribute)) url.searchParams.set(name, this.getAttribute(attribute));
    if (this.hasAttribute("autorun")) url.searchParams.set("autorun", "1");
    frame.src = url + (await fragment(script));
  }

  /** The scripts of the listings before this one in its session. */
  #before() {
    const all = [...document.querySelectorAll("aludel-code")];
    const earlier = all.slice(0, all.indexOf(this)).filter((l) => l.getAttribute("session") === this.getAttribute("session"));
    return earlier.map((listing) => listing.#text);
  }
}

/** Text without the blank lines around it and without what all its lines are indented by. */
function unindented(text) {
  const lines = text.replace(/^(\s*\n)+/, "").trimEnd().split("\n");
  const indents = lines.filter((l) => l.trim()).map((l) => l.length - l.trimStart().length);
  const indent = Math.min(...indents, 1000);
  return lines.map((l) => l.slice(Math.min(indent, l.length))).join("\n") + "\n";
}

customElements.define("aludel-code", AludelCode);
