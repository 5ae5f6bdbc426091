// What became of the script: its lines' operators, the kernels that these ended up in, and the text of both.

const text = (tag, content, className = "") => Object.assign(document.createElement(tag), { textContent: content, className });

export class Inspector {
  #root;
  #regions = [];
  #region = 0;
  /** The line that is looked at; `null`: all. */
  #line = null;
  #shown = { kind: "loops" };
  #reveal;

  /** `reveal(line)` shows a line of the script. */
  constructor(root, reveal) {
    this.#root = root;
    this.#reveal = reveal;
  }

  get line() {
    return this.#line;
  }

  clear() {
    this.#root.hidden = true;
    this.#regions = [];
  }

  /** Shows compiled regions, for one line or all. */
  show(regions, line) {
    this.#regions = regions;
    this.#line = line;
    const has = (r) => line === null || r.nodes.some((n) => n.line === line);
    this.#region = Math.max(0, regions.findIndex(has));
    const first = this.#kernels()[0];
    this.#shown = first === undefined ? { kind: "loops" } : { kind: "kernel", k: first };
    this.#root.hidden = false;
    this.#draw();
    this.#root.scrollIntoView({ block: "nearest" });
  }

  /** The kernels of the region that compute something of the line. */
  #kernels() {
    const region = this.#regions[this.#region];
    if (!region) return [];
    const own = (k) => this.#line === null || k.operators.some((n) => region.nodes[n]?.line === this.#line);
    return region.kernels.flatMap((k, i) => (own(k) ? [i] : []));
  }

  #button(label, pressed, act, name = label) {
    const button = text("button", label);
    Object.assign(button, { type: "button", ariaLabel: name, onclick: () => (act(), this.#draw()) });
    if (pressed !== null) button.setAttribute("aria-pressed", String(pressed));
    return button;
  }

  #draw() {
    const region = this.#regions[this.#region];
    const head = text("div", "", "card-head");
    head.append(text("h2", this.#line === null ? "What the compiler made" : `Line ${this.#line}`));
    if (this.#line !== null) head.append(this.#button("All lines", null, () => (this.#line = null)));
    const close = this.#button("×", null, () => (this.#root.hidden = true), "Close");
    close.className = "quiet";
    const choice = text("div", "", "segmented small");
    choice.setAttribute("role", "group");
    choice.setAttribute("aria-label", "Region");
    if (this.#regions.length > 1) {
      this.#regions.forEach((r, i) => choice.append(this.#button(`Region ${i + 1}`, i === this.#region, () => (this.#region = i))));
      head.append(choice);
    }
    head.append(close);
    if (!region) return this.#root.replaceChildren(head, text("p", "Nothing was compiled in the last run.", "muted"));
    const kernels = this.#kernels();
    const about = `This region ran ${region.runs.toLocaleString("en-US")} times: ${region.nodes.length} operators in ${region.kernels.length} kernels.`;
    const body = text("div", "", "made");
    body.append(this.#operators(region, kernels), this.#text(region, kernels));
    this.#root.replaceChildren(head, text("p", about, "muted"), body);
  }

  #operators(region, kernels) {
    const list = text("ol", "", "nodes");
    list.setAttribute("aria-label", "Operators");
    for (const [n, node] of region.nodes.entries()) {
      if (this.#line !== null && node.line !== this.#line) continue;
      const item = document.createElement("li");
      const chips = region.kernels.flatMap((k, i) => (k.operators.includes(n) ? [i] : []));
      item.append(text("code", node.text));
      for (const k of chips) item.append(this.#chip(region, k));
      if (node.line !== null) {
        const line = this.#button(`line ${node.line}`, null, () => this.#reveal(node.line), `Show line ${node.line} of the script`);
        line.className = "quiet";
        item.append(line);
      }
      list.append(item);
    }
    if (!list.firstChild) list.append(text("li", kernels.length ? "Gradients of other lines are computed here." : "Nothing of this line is in this region.", "muted"));
    return list;
  }

  #chip(region, k) {
    const chip = this.#button(String(k + 1), this.#shown.kind === "kernel" && this.#shown.k === k, () => (this.#shown = { kind: "kernel", k }), `Kernel ${k + 1}: ${region.kernels[k].label}`);
    chip.className = `chip ${region.kernels[k].phase.split(" ")[0]}`;
    chip.title = region.kernels[k].label;
    return chip;
  }

  #text(region, kernels) {
    const side = text("div", "", "text");
    const bar = text("div", "", "chips");
    for (const k of kernels) bar.append(this.#chip(region, k));
    bar.append(this.#button("Loops", this.#shown.kind === "loops", () => (this.#shown = { kind: "loops" })));
    const kernel = this.#shown.kind === "kernel" ? region.kernels[this.#shown.k] : null;
    const code = text("pre", kernel ? kernel.source : region.loops, "code");
    code.tabIndex = 0;
    code.ariaLabel = kernel ? "WGSL of the kernel" : "Loops of the region";
    const lines = kernel ? [...new Set(kernel.operators.map((n) => region.nodes[n]?.line).filter(Boolean))].sort((a, b) => a - b) : [];
    const said = kernel ? `${kernel.label}; moves ${kernel.bytes.toLocaleString("en-US")} bytes; of line${lines.length === 1 ? "" : "s"} ` : "The nests of loops after fusion.";
    const about = text("p", said, "muted");
    lines.forEach((line, i) => about.append(i ? ", " : "", Object.assign(this.#button(String(line), null, () => this.#reveal(line), `Show line ${line} of the script`), { className: "quiet" })));
    side.append(bar, about, code);
    return side;
  }
}
