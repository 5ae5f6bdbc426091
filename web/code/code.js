// The code view: a script in an editor, run eager and compiled in turns by a worker (session.js), with what it prints, draws and takes.
import { Curves } from "./curves.js";
import { Plot } from "./plot.js";
import { Session } from "./session.js";
import * as drafts from "./draft.js";

const $ = (id) => document.getElementById(id);
const LANES = ["eager", "compiled"];
/** The examples that the page's presets are written as. */
const PRESETS = { points: "mlp_points", digits: "digits_mlp", "digits-cnn": "digits_cnn", autoencoder: "autoencoder", addition: "addition_gpt" };
/** The most output that a pane shows, in characters: the oldest goes first. */
const SHOWN = 200_000;
/** The largest file that is taken, in bytes. */
const LARGEST = 200e6;
/** Milliseconds without a key until the script is looked through. */
const PAUSE = 600;

const state = {
  examples: [],
  /** The name of the open script, its text as it was before edits, and whether it came with a link. */
  name: "script.py", original: { text: "", args: "" }, linked: false,
  mode: "both", running: new Set(), ready: false, paused: false,
  curves: {}, curve: null, numbers: {}, started: 0,
};
/** Whether this is a listing within another page: it keeps no drafts, and says how high it is. */
const embedded = new URLSearchParams(location.search).has("embed");
let editor = null, session = null, plot = null, checking = 0;

// Numbers as the page shows them: three significant digits.
function significant(v) {
  const a = Math.abs(v);
  if (a >= 1000) return Math.round(v).toLocaleString("en-US");
  return v.toFixed(a >= 100 ? 0 : a >= 10 ? 1 : a >= 1 || a === 0 ? 2 : 3);
}
const time = (ms) => (ms >= 10_000 ? [significant(ms / 1000), "s"] : [significant(ms), "ms"]);
const size = (n) => (n < 1000 ? `${n}\u202fB` : n < 1e6 ? `${significant(n / 1e3)}\u202fkB` : n < 1e9 ? `${significant(n / 1e6)}\u202fMB` : `${significant(n / 1e9)}\u202fGB`);

const ROWS = [
  ["steps", "Steps", (n) => n.toLocaleString("en-US")],
  ["kernels", "Kernels/step", (n) => n.toLocaleString("en-US")],
  ["submits", "Submits/step", (n) => n.toLocaleString("en-US")],
  ["peak", "Peak memory", size],
  ["first", "First steps", (ms) => time(ms).join("\u202f")],
  ["graphs", "Graphs", (n) => n.toLocaleString("en-US")],
];

function panes() {
  for (const lane of LANES) {
    const rows = ROWS.filter(([key]) => lane === "compiled" || key !== "graphs");
    $(lane).innerHTML = `<h2 id="${lane}-title"><span>${lane === "eager" ? "Eager" : "Compiled"}</span></h2>
      <p class="headline"><output class="value" id="${lane}-ms">–</output><span class="unit" id="${lane}-unit">ms per step</span></p>
      <dl class="detail">${rows.map(([key, label]) => `<div><dt>${label}</dt><dd id="${lane}-${key}">–</dd></div>`).join("")}</dl>`;
  }
}

function showNumbers(lane) {
  const numbers = state.numbers[lane] ?? {};
  const [value, unit] = numbers.ms == null ? ["–", "ms"] : time(numbers.ms);
  $(`${lane}-ms`).textContent = value;
  $(`${lane}-unit`).textContent = `${unit} per step`;
  for (const [key, , show] of ROWS) {
    const cell = $(`${lane}-${key}`);
    if (cell) cell.textContent = numbers[key] == null || numbers[key] === 0 ? "–" : show(numbers[key]);
  }
  const [eager, compiled] = LANES.map((l) => state.numbers[l]?.ms);
  const factor = eager > 0 && compiled > 0 ? eager / compiled : null;
  $("speed-up").className = `speed-up ${factor === null ? "" : factor > 1.02 ? "wins" : factor < 0.98 ? "loses" : ""}`;
  $("speed-up").firstElementChild.textContent = factor === null ? "–" : `${significant(factor)}×`;
}

const dark = () => {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
};

function drawCurves() {
  const names = new Set(LANES.flatMap((lane) => [...(state.curves[lane]?.curves.keys() ?? [])]));
  if (!names.has(state.curve)) state.curve = [...names].find((n) => n.includes("loss")) ?? [...names][0] ?? null;
  const buttons = $("curves");
  if ([...buttons.children].map((b) => b.textContent).join() !== [...names].join()) {
    buttons.replaceChildren(...[...names].map((name) => {
      const button = Object.assign(document.createElement("button"), { type: "button", textContent: name });
      button.onclick = () => ((state.curve = name), drawCurves());
      return button;
    }));
  }
  for (const button of buttons.children) button.setAttribute("aria-pressed", String(button.textContent === state.curve));
  buttons.hidden = names.size === 0;
  if (state.curve === null) return plot.clear();
  plot.draw(state.curve, LANES.map((lane) => state.curves[lane]?.curves.get(state.curve) ?? []), dark());
}

/** Adds text to a pane's output, as a terminal would: `\r` begins the line anew. */
function write(lane, text, className) {
  const output = $(`${lane}-output`);
  const below = output.scrollHeight - output.scrollTop - output.clientHeight < 24;
  for (const [i, part] of text.replaceAll("\r\n", "\n").split("\r").entries()) {
    const last = output.lastChild;
    if (i > 0 && last) last.textContent = last.textContent.slice(0, last.textContent.lastIndexOf("\n") + 1);
    if (last && last.className === (className ?? "")) last.append(part);
    else output.append(Object.assign(document.createElement("span"), { className: className ?? "", textContent: part }));
  }
  for (let over = output.textContent.length - SHOWN; over > 0 && output.firstChild; ) {
    const first = output.firstChild;
    over -= first.textContent.length;
    if (over >= 0) first.remove();
    else first.textContent = first.textContent.slice(over);
  }
  if (below) output.scrollTop = output.scrollHeight;
}

const IMAGES = { svg: "image/svg+xml", png: "image/png" };

/** A file that the script wrote: pictures are shown, everything can be taken away. */
function made(lane, path, bytes) {
  $("figures").hidden = false;
  const id = `made-${lane}-${path}`;
  const ending = path.split(".").at(-1).toLowerCase();
  const url = URL.createObjectURL(new Blob([bytes], { type: IMAGES[ending] ?? "application/octet-stream" }));
  const figure = Object.assign(document.createElement("figure"), { id });
  const link = Object.assign(document.createElement("a"), { href: url, download: path.split("/").at(-1), textContent: path });
  const caption = document.createElement("figcaption");
  caption.append(link, ` ${size(bytes.length)}, ${lane}`);
  // As an image, what a script wrote as SVG cannot run anything.
  if (ending in IMAGES) figure.append(Object.assign(document.createElement("img"), { src: url, alt: `${path}, written by the script` }));
  figure.append(caption);
  const old = document.getElementById(id);
  if (old) {
    URL.revokeObjectURL(old.querySelector("a").href);
    old.replaceWith(figure);
  } else $("made").append(figure);
}

/** Takes files of the visitor: scripts are opened, everything else lies where scripts of this page read it, by its name. */
async function take(files) {
  for (const file of files) {
    if (file.size > LARGEST) notice(`${file.name} is too large: files may have ${size(LARGEST)}.`, true);
    else if (file.name.endsWith(".py")) await open(file.name, { text: await file.text(), args: "" }, "A script from your files.");
    else {
      session.file(`/${file.name}`, new Uint8Array(await file.arrayBuffer()));
      const item = Object.assign(document.createElement("li"), { id: `input-${file.name}` });
      const away = Object.assign(document.createElement("button"), { type: "button", className: "quiet", textContent: "×", ariaLabel: `Take ${file.name} away` });
      away.onclick = () => (session.file(`/${file.name}`, null), item.remove());
      item.append(Object.assign(document.createElement("code"), { textContent: file.name }), ` ${size(file.size)}`, away);
      document.getElementById(item.id)?.remove();
      $("inputs").append(item);
    }
  }
}

function notice(text, error = false) {
  const note = Object.assign(document.createElement("div"), { className: `notice${error ? " error" : ""}` });
  note.append(Object.assign(document.createElement("p"), { textContent: text }));
  const close = Object.assign(document.createElement("button"), { type: "button", className: "quiet", textContent: "×", ariaLabel: "Dismiss" });
  close.onclick = () => note.remove();
  note.append(close);
  $("notices").replaceChildren(note);
}

function buttons() {
  const running = state.running.size > 0;
  $("run").disabled = !state.ready || !editor;
  $("run").textContent = running ? "Run again" : "Run";
  $("stop").disabled = !running;
  $("pause").disabled = !running;
  $("pause").setAttribute("aria-pressed", String(state.paused));
  $("pause").textContent = state.paused ? "Resume" : "Pause";
}

/** A shell's words: by blanks, but for what stands in quotes. */
const words = (text) => [...text.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map((m) => m[1] ?? m[2] ?? m[3]);

function run() {
  if (!state.ready || !editor) return;
  const lanes = LANES.filter((lane) => state.mode === "both" || state.mode === lane);
  for (const lane of LANES) {
    state.curves[lane] = new Curves();
    state.numbers[lane] = {};
    $(`${lane}-output`).replaceChildren();
    $(`${lane}-state`).textContent = lanes.includes(lane) ? "running" : "";
    showNumbers(lane);
  }
  state.curve = null;
  state.running = new Set(lanes);
  state.paused = false;
  $("made").replaceChildren();
  $("figures").hidden = true;
  $("notices").replaceChildren();
  editor.fail([]);
  drawCurves();
  session.run({ name: state.name, text: editor.text, args: words($("arguments").value), eager: lanes.includes("eager"), compiled: lanes.includes("compiled") });
  buttons();
}

/** The lines of the script that a traceback names, outermost first. */
function linesOf(trace) {
  const name = state.name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return [...trace.matchAll(new RegExp(`File "${name}", line (\\d+)`, "g"))].map((m) => Number(m[1]));
}

function ended({ lane, why, trace }) {
  state.running.delete(lane);
  if (state.running.size === 0) session.over();
  if (why) write(lane, why, "error");
  $(`${lane}-state`).textContent = why ? (trace ? "failed" : "stopped") : "done";
  if (trace) editor.fail(linesOf(trace));
  buttons();
}

const heard = {
  ready({ backend, name, fallback }) {
    state.ready = true;
    $("device").replaceChildren(Object.assign(document.createElement("strong"), { textContent: backend }), name ? ` · ${name}` : "");
    if (fallback) notice(`${fallback} Scripts run on the interpreter, on the CPU: small models only.`);
    buttons();
    check();
  },
  progress({ lane, output, numbers, files }) {
    let changed = false;
    for (const [error, text] of output) {
      write(lane, text, error ? "error-output" : "");
      changed = state.curves[lane].take(text) || changed;
    }
    for (const [path, bytes] of files) made(lane, path, bytes);
    state.numbers[lane] = numbers;
    showNumbers(lane);
    if (changed) drawCurves();
  },
  ended,
  checked: ({ problems, text }) => editor?.underline(problems),
  replaced({ why }) {
    for (const lane of [...state.running]) ended({ lane, why: `${why}\n` });
    state.ready = false;
    notice(why, !why.startsWith("Stopped"));
    buttons();
  },
};

function check() {
  clearTimeout(checking);
  checking = setTimeout(() => {
    // The worker has more important things to do.
    if (state.ready && state.running.size === 0) session.check(editor.text);
  }, PAUSE);
}

function changed() {
  const now = { text: editor.text, args: $("arguments").value };
  const differs = now.text !== state.original.text || now.args !== state.original.args;
  if (state.linked) {
    // From here on it is the reader's own.
    state.linked = false;
    history.replaceState(null, "", location.pathname + location.search);
  }
  if (!embedded) drafts.keep(state.name, differs || !example(state.name) ? now : undefined);
  $("revert").hidden = !differs || !example(state.name);
  $("share").firstElementChild.textContent = "Share";
  check();
}

const example = (name) => state.examples.find((e) => `${e.name}.py` === name);

/** Shows a script; an example as it is, or as its draft was left. */
async function open(name, linked, sentence = "This script came with a link. Read it before you run it.") {
  const known = example(name);
  const original = known ? { text: await (await fetch(`examples/${name}`)).text(), args: "" } : { text: "", args: "" };
  const shown = linked ?? drafts.draft(name) ?? original;
  Object.assign(state, { name, original, linked: Boolean(linked) });
  editor.text = shown.text;
  $("arguments").value = shown.args;
  $("revert").hidden = !known || (shown.text === original.text && shown.args === original.args);
  choices();
  $("sentence").textContent = linked ? (embedded ? "" : sentence) : known?.sentence ?? "A script of your own.";
  if (!linked && !embedded) drafts.keep(name, drafts.draft(name));
  check();
}

function choices() {
  const select = $("example");
  const names = state.examples.map((e) => `${e.name}.py`);
  const own = names.includes(state.name) ? [] : [state.name];
  select.replaceChildren(...[...own, ...names].map((name) => {
    const option = Object.assign(document.createElement("option"), { value: name, textContent: example(name)?.title ?? name });
    option.selected = name === state.name;
    option.title = example(name)?.sentence ?? "";
    return option;
  }));
}

async function share() {
  const script = { name: state.name, text: editor.text, args: $("arguments").value };
  const url = new URL(location.href);
  url.hash = await drafts.fragment(script);
  history.replaceState(null, "", url);
  // Without permission the address bar still has the link.
  const copied = await navigator.clipboard?.writeText(url.href).then(() => true, () => false);
  $("share").firstElementChild.textContent = copied ? "Link copied" : "In the address";
}

function theme() {
  const show = () => {
    $("theme").textContent = dark() ? "☀" : "☾";
    $("theme").setAttribute("aria-pressed", String(dark()));
    if (state.curve !== null) drawCurves();
  };
  $("theme").onclick = () => {
    const chosen = dark() ? "light" : "dark";
    document.documentElement.dataset.theme = chosen;
    // Storage may be closed to us; the choice then lasts as long as the page.
    try { localStorage.setItem("aludel-theme", chosen); } catch {}
    show();
  };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", show);
  show();
}

async function openFirst() {
  try {
    const linked = await drafts.shared(location.hash);
    if (linked) return open(linked.name, linked);
  } catch (e) {
    notice(`The link's script cannot be read: ${e.message}.`, true);
  }
  const asked = decodeURIComponent(location.hash.slice(1));
  const name = `${PRESETS[asked] ?? asked}.py`;
  await open(example(name) ? name : drafts.last() ?? "mlp_points.py");
}

async function start() {
  panes();
  if (embedded) {
    new ResizeObserver(() => parent.postMessage({ aludel: "height", height: $("app").offsetHeight }, "*")).observe($("app"));
  }
  plot = new Plot($("plot"));
  theme();
  const gpu = new URLSearchParams(location.search).get("device") !== "interpreter";
  session = new Session((message) => heard[message.kind]?.(message), gpu);
  const [{ Editor }, examples] = await Promise.all([import("./editor.js"), fetch("examples/index.json").then((r) => r.json())]);
  editor = new Editor($("editor"), { changed, run });
  state.examples = examples;
  await openFirst();
  $("run").onclick = run;
  $("stop").onclick = () => session.stop();
  $("pause").onclick = () => {
    state.paused = !state.paused;
    session.pause(state.paused);
    buttons();
  };
  $("share").onclick = share;
  $("add").onclick = () => $("chooser").click();
  $("chooser").onchange = (e) => take([...e.target.files]).then(() => (e.target.value = ""));
  for (const event of ["dragover", "drop"]) {
    // Before the editor, which would put a file's text into the script.
    $("main").addEventListener(event, (e) => {
      if (![...e.dataTransfer.types].includes("Files")) return;
      e.preventDefault();
      e.stopPropagation();
      if (event === "drop") take([...e.dataTransfer.files]);
    }, true);
  }
  $("arguments").oninput = changed;
  $("arguments").onkeydown = (e) => { if (e.key === "Enter") run(); };
  $("example").onchange = (e) => {
    history.replaceState(null, "", location.pathname + location.search);
    open(e.target.value);
  };
  $("revert").onclick = () => {
    drafts.keep(state.name, undefined);
    open(state.name);
  };
  addEventListener("hashchange", openFirst);
  for (const button of document.querySelectorAll("[data-mode]")) {
    button.onclick = () => {
      state.mode = button.dataset.mode;
      for (const b of document.querySelectorAll("[data-mode]")) b.setAttribute("aria-pressed", String(b === button));
      for (const lane of LANES) $(lane).classList.toggle("idle", state.mode !== "both" && state.mode !== lane);
    };
  }
  buttons();
}

start();
