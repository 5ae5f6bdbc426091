// Curves of what a script prints: `step 20  loss 0.51  accuracy 0.9`, `epoch 3: loss=0.2`, `[D loss: 0.7]`.

/** What numbers are counted by, by the names that stand before them. */
const COUNTERS = new Set(["step", "epoch", "iter", "iteration", "batch", "episode", "it"]);
/** A name, at most a sign between, and a number. */
const PAIR = /([A-Za-z_][A-Za-z_ ]*?)\s*[:=]?\s+?\[?(-?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\d*\.\d+|nan|inf))(?![\w%])|([A-Za-z_][A-Za-z_ ]*?)[:=](-?\d+\.?\d*(?:[eE][-+]?\d+)?)(?![\w%])/g;
/** As many points are kept of a curve as a plot can show; then every other one goes. */
const POINTS = 4000;
const NAMES = 8;

export class Curves {
  /** From a name to its points, `[x, y]`. */
  curves = new Map();
  #rest = "";
  #lines = 0;

  /** Takes what was printed; whether a curve has changed. */
  take(text) {
    const lines = (this.#rest + text).split(/[\n\r]/);
    this.#rest = lines.pop().slice(-2000);
    let changed = false;
    for (const line of lines) changed = this.#line(line) || changed;
    return changed;
  }

  #line(line) {
    if (line.length > 400) return false;
    let at = null;
    const found = [];
    for (const match of line.matchAll(PAIR)) {
      const name = (match[1] ?? match[3]).trim().toLowerCase();
      const text = match[2] ?? match[4];
      const counter = name.split(" ").pop();
      if (COUNTERS.has(counter)) at = at ?? Number(text);
      else found.push([name, text]);
    }
    // A number without a point is a count, not a measurement, unless its line counts steps.
    const values = found.filter(([name, text]) => /loss|error|reward|accuracy|acc/.test(name) || (at !== null && /\.|e/i.test(text)));
    if (values.length === 0) return false;
    this.#lines += 1;
    for (const [name, text] of values) this.#point(name, at ?? this.#lines, Number(text));
    return true;
  }

  #point(name, x, y) {
    if (!Number.isFinite(y)) return;
    if (!this.curves.has(name) && this.curves.size >= NAMES) return;
    let points = this.curves.get(name) ?? [];
    // Counting that begins anew (another model, another epoch) goes on behind the last point.
    const last = points.at(-1)?.[0] ?? -Infinity;
    if (points.length > 0 && x <= last) x = last + 1;
    points.push([x, y]);
    if (points.length > POINTS) points = points.filter((_, i) => i % 2 === 0);
    this.curves.set(name, points);
  }
}
