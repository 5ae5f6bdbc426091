// The code view: a script in an editor, run eager and compiled in turns by a worker (session.js), with what it prints, draws and takes.
import { Curves, passed } from "./curves.js";
import { Devices } from "./devices.js";
import { Figures } from "./figures.js";
import { significant, size, time } from "./format.js";
import { Inspector } from "./inspector.js";
import { Output } from "./output.js";
import { Plot } from "./plot.js";
import { Remote } from "./remote.js";
import { Session } from "./session.js";
import { Tabs } from "./tabs.js";
import * as drafts from "./draft.js";
import * as storage from "./keep.js";

const $ = (id) => document.getElementById(id);
const LANES = ["eager", "compiled"];
/** The examples that the page's presets are written as. */
const PRESETS = { points: "mlp_points", digits: "digits_mlp", "digits-cnn": "digits_cnn", autoencoder: "autoencoder", addition: "addition_gpt" };
/** The largest file that is taken, in bytes. */
const LARGEST = 200e6;
/** Milliseconds without a key until the script is looked through. */
const PAUSE = 600;

const state = {
  examples: [],
  /** The name of the open script, its text as it was before edits, and whether it came with a link. */
  name: "script.py", original: { text: "", args: "" }, linked: false,
  mode: "both", running: new Set(), ready: false, paused: false,
  /** Panes whose scripts wait for a line of input. */
  asking: new Set(),
  curves: {}, curve: null, numbers: {},
  /** The text that runs or ran last, and the line that is looked into; `null`: all. */
  ran: "", inspects: null, started: false,
  /** Whether a script is in the editor. */
  opened: false,
};
/** Whether this is a listing within another page, and what that page wants of it: it keeps no drafts, and says how high it is. */
const wanted = new URLSearchParams(location.search);
const embedded = wanted.has("embed");
const outputs = Object.fromEntries(LANES.map((lane) => [lane, new Output($(`${lane}-output`))]));
const figures = new Figures($("figures"), $("made"));
const inspector = new Inspector($("inspector"), (line) => editor.reveal(line));
let editor = null, tabs = null, session = null, plot = null, devices = null, checking = 0;
/** Panes whose scripts run on a server. */
let remotes = {};
/** Counts what was asked to be opened. */
let opening = 0;
/** Files beside the script that the worker has. */
let sent = {};

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
    $(lane).innerHTML = `<h2 id="${lane}-title"><span>${lane === "eager" ? "Eager" : "Compiled"}</span><select class="on quiet" id="${lane}-on" aria-label="Device of ${lane}" hidden></select></h2>
      <p class="headline"><output class="value" id="${lane}-ms">–</output><span class="unit" id="${lane}-unit">ms per step</span></p>
      <p class="doing" id="${lane}-doing" role="status" hidden><span></span><progress aria-label="How far it is"></progress></p>
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

/** Says what a pane is at until its first number, and how far: `part` of one, where that is known. */
function doing(lane, what, part) {
  const line = $(`${lane}-doing`);
  line.hidden = !what;
  if (!what) return;
  const [said, bar] = line.children;
  said.textContent = what;
  if (part === undefined) bar.removeAttribute("value");
  else bar.value = part;
}

/** What a pane that runs and has no number yet is at. */
function starts(lane, numbers) {
  const waits = state.running.has(lane) && numbers.ms == null && !state.paused;
  if (!waits) return doing(lane, null);
  const built = numbers.pipelines ? `: ${numbers.pipelines} kernel${numbers.pipelines === 1 ? "" : "s"} so far` : "";
  if (numbers.steps > 0) doing(lane, `Measuring: step ${numbers.steps}${built}`);
  else doing(lane, lane === "compiled" ? `Capturing the first steps${built}` : `Compiling operators${built}`);
}

const dark = () => {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
};

function drawCurves() {
  const names = new Set(LANES.flatMap((lane) => [...(state.curves[lane]?.names ?? [])]));
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
  plot.draw(state.curve, LANES.map((lane) => state.curves[lane]?.points(state.curve) ?? []), dark());
}

/** Takes files of the visitor: scripts are opened, everything else lies where scripts of this page read it, by its name. */
async function take(files) {
  for (const file of files) {
    if (file.size > LARGEST) notice(`${file.name} is too large: files may have ${size(LARGEST)}.`, true);
    else if (file.name.endsWith(".py")) await open(file.name, { text: await file.text(), args: "" }, "A script from your files.");
    else give(file.name, new Uint8Array(await file.arrayBuffer()));
  }
}

/** A file for scripts to read; kept, where that is asked for. */
function give(name, bytes) {
  const known = (done) => done.catch((e) => notice(`${name} could not be kept: ${e.message}`, true));
  session.file(`/${name}`, bytes);
  known(storage.store(name, bytes));
  const item = Object.assign(document.createElement("li"), { id: `input-${name}` });
  const away = Object.assign(document.createElement("button"), { type: "button", className: "quiet", textContent: "×", ariaLabel: `Take ${name} away` });
  away.onclick = () => (session.file(`/${name}`, null), known(storage.store(name, null)), item.remove(), keeps());
  item.append(Object.assign(document.createElement("code"), { textContent: name }), ` ${size(bytes.length)}`, away);
  document.getElementById(item.id)?.remove();
  item.bytes = bytes;
  $("inputs").prepend(item);
  keeps();
}

/** Whether files stay when the page goes is asked where there are some. */
function keeps() {
  $("keep").hidden = $("inputs").querySelectorAll("li[id]").length === 0;
  $("keep").querySelector("input").checked = storage.isKept();
}

async function keep(on) {
  await storage.keep(on);
  for (const item of $("inputs").querySelectorAll("li[id]")) await storage.store(item.id.slice("input-".length), item.bytes);
}

/** Hands a text to the visitor as a file. */
function download(name, text) {
  const url = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  Object.assign(document.createElement("a"), { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

/** Gives the worker the files beside the script. */
function sendFiles() {
  const files = tabs.files;
  for (const name of Object.keys(sent)) if (!(name in files)) session.file(`/${name}`, null);
  for (const [name, text] of Object.entries(files)) if (sent[name] !== text) session.file(`/${name}`, new TextEncoder().encode(text));
  sent = files;
}

/** The texts of the listings before this one that share its session, as they are now. */
function before() {
  if (!embedded || !wanted.has("session") || parent === window) return Promise.resolve([]);
  return new Promise((resolve) => {
    const listen = ({ source, data }) => {
      if (source !== parent || data?.aludel !== "before") return;
      removeEventListener("message", listen);
      resolve(data.texts.filter((text) => typeof text === "string"));
    };
    addEventListener("message", listen);
    parent.postMessage({ aludel: "before" }, "*");
  });
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
  $("run").disabled = !state.ready || !state.opened;
  $("run").textContent = running ? "Run again" : "Run";
  $("stop").disabled = !running;
  $("pause").disabled = !running;
  $("step").disabled = !running;
  $("pause").setAttribute("aria-pressed", String(state.paused));
  $("pause").textContent = state.paused ? "Resume" : "Pause";
}

/** A shell's words: by blanks, but for what stands in quotes. */
const words = (text) => [...text.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map((m) => m[1] ?? m[2] ?? m[3]);

async function run() {
  if (!state.ready || !state.opened) return;
  const earlier = await before();
  const lanes = LANES.filter((lane) => state.mode === "both" || state.mode === lane);
  for (const lane of LANES) {
    state.curves[lane] = new Curves();
    state.numbers[lane] = {};
    outputs[lane].clear();
    $(`${lane}-state`).textContent = lanes.includes(lane) ? "running" : "";
    showNumbers(lane);
    doing(lane, lanes.includes(lane) ? "Starting" : null);
  }
  state.curve = null;
  state.running = new Set(lanes);
  state.paused = false;
  state.asking.clear();
  figures.clear();
  inspector.clear();
  $("inspect").hidden = true;
  editor.become([]);
  editor.here(null);
  $("notices").replaceChildren();
  editor.fail([]);
  drawCurves();
  state.ran = tabs.script;
  sendFiles();
  const script = { name: state.name, text: state.ran, before: earlier, args: words($("arguments").value) };
  const here = (lane) => lanes.includes(lane) && !devices.of(lane);
  everywhere((remote) => remote.cancel());
  remotes = Object.fromEntries(lanes.filter((lane) => !here(lane)).map((lane) => [lane, remote(lane, script)]));
  const place = (lane) => (here(lane) ? devices.here(lane) : null);
  session.run({ ...script, eager: place("eager"), compiled: place("compiled") });
  buttons();
}

/** Starts a pane's script on its server. */
function remote(lane, script) {
  const run = new Remote(devices.of(lane), lane, script, session.files, (message) => remotes[lane] === run && heard[message.kind](message));
  return run;
}

const everywhere = (what) => Object.values(remotes).forEach(what);

/** Lays open what became of a line, or of all. */
function inspect(line) {
  state.inspects = line;
  (remotes.compiled ?? session).inspect();
}

/** Asks for the line that scripts wait for: once, both get it. */
function ask() {
  const [first] = state.asking;
  for (const lane of LANES) {
    if (lane !== first) outputs[lane].ask(null);
    else if (!outputs[lane].asks) outputs[lane].ask((line) => (state.asking.clear(), session.answer(line), everywhere((remote) => remote.answer(line))));
  }
}

function pause(on) {
  state.paused = on;
  session.pause(on);
  everywhere((remote) => remote.pause(on));
  if (!on) editor.here(null);
  for (const lane of state.running) starts(lane, state.numbers[lane]);
  buttons();
}

/** The lines of the script that a traceback names, outermost first. */
function linesOf(trace) {
  const name = tabs.active.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return [...trace.matchAll(new RegExp(`File "/?${name}", line (\\d+)`, "g"))].map((m) => Number(m[1]));
}

function ended({ lane, why, trace }) {
  state.running.delete(lane);
  if ([...state.running].every((other) => remotes[other])) session.over();
  doing(lane, null);
  state.asking.delete(lane);
  ask();
  if (state.running.size === 0) editor.here(null);
  if (why) outputs[lane].write(why, "error");
  $(`${lane}-state`).textContent = why ? (trace ? "failed" : "stopped") : "done";
  if (trace) editor.fail(linesOf(trace));
  buttons();
}

const heard = {
  ready({ backend, name, fallback }) {
    state.ready = true;
    $("device").replaceChildren(Object.assign(document.createElement("strong"), { textContent: backend }), name ? ` · ${name}` : "");
    if (fallback) notice(`${fallback} Scripts run on the CPU, through WebAssembly: small models are quick there; convolutions and long sequences are slow.`);
    devices.own(backend);
    buttons();
    check();
    autorun();
  },
  progress({ lane, output, numbers, files, figures: shown, logged, at }) {
    let changed = logged.length > 0;
    for (const [error, text] of output) {
      outputs[lane].write(text, error ? "error-output" : "");
      changed = state.curves[lane].take(text) || changed;
    }
    for (const [name, step, value] of logged) state.curves[lane].log(name, step, value);
    for (const [name, media, bytes] of shown) figures.add(lane, name, bytes, media);
    for (const [path, bytes] of files) figures.add(lane, path, bytes);
    state.numbers[lane] = numbers;
    showNumbers(lane);
    starts(lane, numbers);
    if (state.paused && at && tabs.isScript) editor.here(at);
    if (changed) drawCurves();
  },
  /** All that a server's script made comes again. */
  whole({ lane }) {
    outputs[lane].clear();
    state.curves[lane] = new Curves();
  },
  losses({ lane, losses }) {
    for (const [line, step, value] of losses) {
      const name = passed(state.ran, line);
      if (name) state.curves[lane].pass(name, step, value);
    }
    drawCurves();
  },
  compiling({ lane, done, total }) {
    if (done < total) doing(lane, `Compiling kernel ${done + 1} of ${total}`, done / total);
    else doing(lane, "Running the first step");
  },
  lines({ lines }) {
    // Of another text the lines are others.
    if (tabs.isScript && editor.text === state.ran) editor.become(lines);
    $("inspect").hidden = false;
  },
  inspected: ({ regions }) => inspector.show(regions, state.inspects),
  asks({ lane }) {
    state.asking.add(lane);
    ask();
  },
  ended,
  checked: ({ problems, text }) => editor?.underline(problems),
  replaced({ why }) {
    for (const lane of [...state.running].filter((lane) => !remotes[lane])) ended({ lane, why: `${why}\n` });
    state.ready = false;
    notice(why, !why.startsWith("Stopped"));
    buttons();
  },
};

/** Runs a listing that is to run by itself, once it is there and the worker is. */
function autorun() {
  // Only a page that a listing stands in may start it: a link may not.
  if (embedded && wanted.get("autorun") === "1" && parent !== window && !state.started && state.ready && state.opened) {
    state.started = true;
    run();
  }
}

function check() {
  clearTimeout(checking);
  checking = setTimeout(() => {
    // The worker has more important things to do.
    if (!state.ready || state.running.size > 0 || !/\.py$/.test(tabs.active)) return;
    sendFiles();
    session.check(editor.text);
  }, PAUSE);
}

function changed() {
  const now = { text: tabs.script, args: $("arguments").value, files: tabs.files };
  const differs = now.text !== state.original.text || now.args !== state.original.args || Object.keys(now.files).length > 0;
  if (state.linked) {
    // From here on it is the reader's own.
    state.linked = false;
    history.replaceState(null, "", location.pathname + location.search);
  }
  if (!embedded) drafts.keep(state.name, differs || !example(state.name) ? now : undefined);
  $("revert").hidden = !differs || !example(state.name);
  $("share").firstElementChild.textContent = "Share";
  if (embedded) parent.postMessage({ aludel: "text", text: now.text }, "*");
  check();
}

const example = (name) => state.examples.find((e) => `${e.name}.py` === name);

/** `1-3,7` as pairs of lines. */
const spans = (text) => (text ?? "").split(",").map((part) => /^\s*(\d+)(?:\s*-\s*(\d+))?\s*$/.exec(part)).filter(Boolean).map(([, from, to]) => [Number(from), Number(to ?? from)]);

/** Shows a script; an example as it is, or as its draft was left. */
async function open(name, linked, sentence = "This script came with a link. Read it before you run it.") {
  const known = example(name);
  const mine = (opening += 1);
  const original = known ? { text: await (await fetch(`examples/${name}`)).text(), args: "" } : { text: "", args: "" };
  // Something else was asked for meanwhile.
  if (mine !== opening) return;
  const shown = linked ?? drafts.draft(name) ?? original;
  Object.assign(state, { name, original, linked: Boolean(linked), opened: true });
  editor.protect([], []);
  tabs.open(name, shown.text, shown.files);
  if (embedded) editor.protect(spans(wanted.get("readonly")), spans(wanted.get("hidden")));
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
  const script = { name: state.name, text: tabs.script, args: $("arguments").value, files: tabs.files };
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
  const mine = (opening += 1);
  try {
    const linked = await drafts.shared(location.hash);
    // An example was chosen, or another link came, while this one was unpacked.
    if (mine !== opening) return;
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
  // Links from when there was no other CPU have its second name.
  const gpu = !["wasm", "interpreter"].includes(wanted.get("device"));
  devices = new Devices(foot);
  devices.begin();
  // Nobody could take it up again.
  addEventListener("pagehide", () => everywhere((remote) => remote.cancel()));
  session = new Session((message) => heard[message.kind]?.(message), gpu);
  const [{ Editor }, examples] = await Promise.all([import("./editor.js"), fetch("examples/index.json").then((r) => r.json())]);
  editor = new Editor($("editor"), { changed, run, inspect, save: () => download(tabs.active, editor.text) });
  tabs = new Tabs($("tabs"), editor, changed);
  state.examples = examples;
  $("run").onclick = run;
  $("stop").onclick = () => {
    if ([...state.running].some((lane) => !remotes[lane])) session.stop();
    everywhere((remote) => remote.stop());
  };
  $("pause").onclick = () => pause(!state.paused);
  $("step").onclick = () => {
    state.paused = true;
    session.step();
    everywhere((remote) => remote.step());
    buttons();
  };
  $("inspect").onclick = () => inspect(null);
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
  $("save").onclick = () => download(tabs.active, editor.text);
  for (const lane of LANES) $(`${lane}-save`).onclick = () => download(`${state.name.replace(/\.py$/, "")}-${lane}.txt`, outputs[lane].text);
  $("keep").querySelector("input").onchange = (e) => keep(e.target.checked).catch((error) => notice(`This browser keeps no files: ${error.message}`, true));
  storage.kept().then((files) => files.forEach(([name, bytes]) => give(name, bytes)), () => {});
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
  for (const button of document.querySelectorAll("[data-mode]")) button.onclick = () => choose(button.dataset.mode);
  if (LANES.includes(wanted.get("mode"))) {
    choose(wanted.get("mode"));
    if (embedded) document.documentElement.dataset.only = wanted.get("mode");
  }
  if (embedded && wanted.has("show")) document.documentElement.dataset.show = wanted.get("show").split(/[\s,]+/).join(" ");
  // Only now: whoever chooses an example meanwhile is heard.
  await openFirst();
  buttons();
  autorun();
}

/** Says where scripts run. */
function foot() {
  $("sent").textContent = LANES.some((lane) => devices.of(lane))
    ? "A pane set to a server sends the script and its files there, and nothing else."
    : "Nothing is sent anywhere.";
}

/** Which panes run. */
function choose(mode) {
  state.mode = mode;
  for (const b of document.querySelectorAll("[data-mode]")) b.setAttribute("aria-pressed", String(b.dataset.mode === mode));
  for (const lane of LANES) $(lane).classList.toggle("idle", mode !== "both" && mode !== lane);
}

start();
