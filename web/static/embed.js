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
// A script that a reader may change and run, in an iframe too. It never runs by itself; it is as high as it has to be.
class AludelCode extends HTMLElement {
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
      if (source === frame.contentWindow && data?.aludel === "height") frame.style.height = `${Math.min(4000, Number(data.height) || 420)}px`;
    });
    this.append(frame);
    const from = this.getAttribute("src");
    const { fragment } = await import(new URL("code/draft.js", home));
    const text = from ? await (await fetch(from)).text() : own;
    const script = { name: this.getAttribute("name") ?? from?.split("/").at(-1) ?? "script.py", text, args: this.getAttribute("args") ?? "" };
    frame.src = new URL("code.html?embed=1", home) + (await fragment(script));
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
