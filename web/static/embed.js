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
