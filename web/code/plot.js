// The curves of both panes in one plot, drawn by uPlot (web/vendor/uplot).

const HEIGHT = 220;

/** A colour of the style sheet, as the theme has it now. */
function colour(name) {
  const wearer = document.createElement("i");
  wearer.style.color = `var(${name})`;
  wearer.hidden = true;
  document.body.append(wearer);
  const worn = getComputedStyle(wearer).color;
  wearer.remove();
  return worn;
}

export class Plot {
  #element;
  #plot = null;
  #look = "";
  #name = "";

  constructor(element) {
    this.#element = element;
    new ResizeObserver(() => this.#plot?.setSize({ width: this.#width(), height: HEIGHT })).observe(element);
  }

  #width() {
    return Math.max(200, this.#element.clientWidth);
  }

  /** Draws the curve `name` of the panes, `[points, points]`; `dark` only says that colours have changed. */
  draw(name, panes, dark) {
    const tables = panes.map((points) => [points.map((p) => p[0]), points.map((p) => p[1])]);
    const data = uPlot.join(tables);
    const look = `${name} ${dark}`;
    if (look !== this.#look) {
      this.#plot?.destroy();
      this.#plot = null;
    }
    this.#look = look;
    this.#name = name;
    if (this.#plot) this.#plot.setData(data);
    else this.#plot = new uPlot(this.#options(), data, this.#element);
    const said = (pane, points) => `${pane}: ${points.length ? `${points.at(-1)[1]} at ${points.at(-1)[0]}` : "nothing yet"}`;
    this.#element.setAttribute("aria-label", `Curve of ${name}. ${said("Eager", panes[0])}. ${said("Compiled", panes[1])}.`);
  }

  clear() {
    this.#plot?.destroy();
    this.#plot = null;
    this.#look = "";
    this.#element.setAttribute("aria-label", "No numbers yet");
  }

  #options() {
    const [text, grid] = [colour("--muted"), colour("--line")];
    const axis = (label, size) => ({
      stroke: text, label, labelSize: label ? 18 : 0, size, font: "12px system-ui", labelFont: "12px system-ui",
      grid: { stroke: grid, width: 1 }, ticks: { show: false },
    });
    const series = (label, tone, dash) => ({ label, stroke: colour(tone), width: 2, dash, spanGaps: true, points: { show: false } });
    return {
      width: this.#width(), height: HEIGHT, legend: { show: false }, cursor: { y: false, points: { size: 7 } },
      scales: { x: { time: false } },
      axes: [axis("", 28), axis("", 56)],
      // The same numbers lie on one another: the upper one has gaps.
      series: [{}, series("Eager", "--left"), series("Compiled", "--right", [6, 5])],
    };
  }
}
