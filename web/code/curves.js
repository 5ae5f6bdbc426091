// Curves of a run: what the script logs (`SummaryWriter`, the postfix of `tqdm`), what it prints (`step 20  loss 0.51`, `epoch 3: loss=0.2`,
// `[D loss: 0.7]`), and what it calls `backward()` on.

/** What numbers are counted by, by the names that stand before them. */
const COUNTERS = new Set(["step", "epoch", "iter", "iteration", "batch", "episode", "it"]);
/** A name, at most a sign between, and a number. */
const PAIR = /([A-Za-z_][A-Za-z_ ]*?)\s*[:=]?\s+?\[?(-?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\d*\.\d+|nan|inf))(?![\w%])|([A-Za-z_][A-Za-z_ ]*?)[:=](-?\d+\.?\d*(?:[eE][-+]?\d+)?)(?![\w%])/g;
/** A line of `tqdm`, whose numbers are logged already. */
const BAR = /\d%\|/;
/** As many points are kept of a curve as a plot can show; then every other one goes. */
const POINTS = 4000;
const NAMES = 12;

/** Where numbers come from, the best source of a name first. */
const SOURCES = ["logged", "printed", "passed"];

export class Curves {
  /** For each source from a name to its points, `[x, y]`. */
  #of = Object.fromEntries(SOURCES.map((source) => [source, new Map()]));
  #rest = "";
  #lines = 0;

  /** The names that there are curves of, logged ones first. */
  get names() {
    return new Set(SOURCES.flatMap((source) => [...this.#of[source].keys()]));
  }

  /** The points of a name: of the best source that has more than one. */
  points(name) {
    const found = SOURCES.map((source) => this.#of[source].get(name) ?? []);
    return found.find((points) => points.length > 1) ?? found.find((points) => points.length > 0) ?? [];
  }

  /** Takes what was printed; whether a curve has changed. */
  take(text) {
    const lines = (this.#rest + text).split(/[\n\r]/);
    this.#rest = lines.pop().slice(-2000);
    let changed = false;
    for (const line of lines) changed = this.#line(line) || changed;
    return changed;
  }

  /** Takes a number that was logged, at a step if it has one. */
  log(name, step, value) {
    const shown = name.toLowerCase();
    this.#point("logged", shown, step ?? (this.#of.logged.get(shown)?.at(-1)?.[0] ?? -1) + 1, value);
  }

  /** Takes a number that `backward()` was called on, under the name that it has in the script. */
  pass(name, step, value) {
    this.#point("passed", name, step, value);
  }

  #line(line) {
    if (line.length > 400 || BAR.test(line)) return false;
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
    for (const [name, text] of values) this.#point("printed", name, at ?? this.#lines, Number(text));
    return true;
  }

  #point(source, name, x, y) {
    if (!Number.isFinite(y)) return;
    const curves = this.#of[source];
    if (!curves.has(name) && curves.size >= NAMES) return;
    let points = curves.get(name) ?? [];
    // Counting that begins anew (another model, another epoch) goes on behind the last point.
    const last = points.at(-1)?.[0] ?? -Infinity;
    if (points.length > 0 && x <= last) x = last + 1;
    points.push([x, y]);
    if (points.length > POINTS) points = points.filter((_, i) => i % 2 === 0);
    curves.set(name, points);
  }
}

/** The name of what line `n` of a script calls `backward()` on: a variable's, or an attribute's. `null` where it is an expression. */
export function passed(text, n) {
  const found = /(?:^|[^\w.)\]])([A-Za-z_][\w.]*?)\.backward\(/.exec(text.split("\n")[n - 1] ?? "");
  return found ? found[1].split(".").at(-1).toLowerCase() : null;
}
