// The page of benchmarks: draws the files of `docs/benchmarks`, each what one run of `aludel bench --json` printed.

/** The results in a file: its device, and for each workload the times of its modes and of a peer. Lines that are no results are left out. */
export function read(text) {
  const run = { device: null, rows: new Map() };
  const row = (workload, amp) => {
    const key = `${workload} ${amp}`;
    if (!run.rows.has(key)) run.rows.set(key, { workload, amp, times: new Map() });
    return run.rows.get(key);
  };
  for (const line of text.split("\n")) {
    if (!line.trim()) continue;
    const event = JSON.parse(line);
    if (event.event === "device") run.device ??= event;
    if (event.event === "step" && event.ms_per_step > 0) row(event.workload, event.amp).times.set(event.mode, event.ms_per_step);
    if (event.event === "peer") {
      const [peer] = Object.keys(event).filter((k) => k.endsWith("_ms"));
      if (!peer || !(event[peer] > 0)) continue;
      const own = [...run.rows.values()].find((r) => r.workload === event.workload);
      own?.times.set(PEERS[peer.slice(0, -3)] ?? peer.slice(0, -3), event[peer]);
    }
  }
  return run;
}

const PEERS = { torch: "PyTorch", burn: "burn" };

/** The geometric mean of numbers; null of none. */
export function mean(numbers) {
  return numbers.length ? Math.exp(numbers.reduce((sum, n) => sum + Math.log(n), 0) / numbers.length) : null;
}

/** How many times as fast compiled is as another mode or a peer, by workload. */
export function factors(run, other) {
  return [...run.rows.values()].filter((r) => r.times.has(other) && r.times.has("compiled")).map((r) => r.times.get(other) / r.times.get("compiled"));
}

/** A number of milliseconds, or a factor, with three digits that count. */
const digits = (n) => (n >= 100 ? n.toFixed(0) : n >= 10 ? n.toFixed(1) : n >= 1 ? n.toFixed(2) : n.toPrecision(2));

function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

const kind = (mode) => (mode === "eager" || mode === "compiled" ? mode : "peer");

function bars(row, modes) {
  const most = Math.max(...row.times.values());
  return modes.filter((m) => row.times.has(m)).map((m) => {
    const ms = row.times.get(m);
    const line = element("div", { className: `bar ${kind(m)}`, title: `${m}: ${digits(ms)} ms` });
    const bar = element("i");
    bar.style.width = `${(ms / most) * 75}%`;
    line.append(bar, element("span", { textContent: `${digits(ms)} ms` }));
    return line;
  });
}

function machine(name, run) {
  const device = run.device ?? {};
  const rows = [...run.rows.values()];
  const modes = ["eager", "compiled", ...new Set(rows.flatMap((r) => [...r.times.keys()]).filter((m) => kind(m) === "peer"))];
  const others = modes.filter((m) => m !== "compiled" && factors(run, m).length);
  const precision = device.precision && device.precision !== "highest" ? `, f32 products: ${device.precision}` : "";
  const about = [device.name + precision, device.cores && `${device.cores} cores`, device.date, device.commit && `commit ${device.commit.slice(0, 10)}`];
  const means = element("dl", { className: "means" });
  for (const other of others) {
    const title = element("dt", { textContent: `compiled, beside ${other} (geometric mean of ${factors(run, other).length})` });
    means.append(element("div", {}, title, element("dd", { textContent: `${digits(mean(factors(run, other)))} times as fast` })));
  }
  const head = element("tr", {}, element("th", { scope: "col", textContent: "model" }), element("th", { scope: "col", textContent: "a step" }));
  for (const other of others) head.append(element("th", { scope: "col", textContent: `beside ${other}` }));
  const body = element("tbody");
  for (const row of rows) {
    const label = row.amp && row.amp !== "f32" ? `${row.workload} ${row.amp}` : row.workload;
    const line = element("tr", {}, element("th", { scope: "row", textContent: label }));
    line.append(element("td", { className: "chart" }, ...bars(row, modes)));
    for (const other of others) {
      const factor = row.times.get(other) / row.times.get("compiled");
      const known = Number.isFinite(factor);
      line.append(element("td", { className: `number${known && factor < 0.97 ? " slower" : ""}`, textContent: known ? digits(factor) : "" }));
    }
    body.append(line);
  }
  const key = element("p", { className: "legend" });
  for (const mode of modes.filter((m) => rows.some((r) => r.times.has(m)))) key.append(element("span", { className: kind(mode) }, element("i"), mode));
  return element(
    "section",
    { className: "machine" },
    element("h3", { textContent: device.machine ?? name }),
    element("p", { className: "about", textContent: about.filter(Boolean).join(" · ") }),
    means,
    key,
    element("div", { className: "scroll", tabIndex: 0, role: "group", ariaLabel: `results of ${device.machine ?? name}` }, element("table", {}, element("thead", {}, head), body)),
  );
}

async function draw(into) {
  const list = await (await fetch("benchmarks/index.json")).json();
  const sections = await Promise.all(
    list.map(async (file) => {
      const answer = await fetch(`benchmarks/${file}`);
      if (!answer.ok) throw new Error(`${file}: ${answer.status}`);
      return machine(file.replace(/\.jsonl$/, ""), read(await answer.text()));
    }),
  );
  into.replaceChildren(...(sections.length ? sections : [element("p", { textContent: "There are no results yet." })]));
}

const into = document.getElementById("results");
draw(into).catch((e) => into.replaceChildren(element("p", { className: "slower", role: "alert", textContent: `The results could not be read: ${e.message}` })));
