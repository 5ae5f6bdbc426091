// Completion and explanation of the names that scripts import, from `names.json` (crates/torch/examples/names.rs): by module and class,
// `[name, kind, parameters, sentence]`.

/** What a value of unknown type may be. */
const VALUES = ["Tensor", "Module", "Optimizer"];
const KINDS = { c: "class", f: "function", v: "variable" };

let all = null;

/** The list; loaded when it is asked for first. */
const names = () => (all ??= fetch("names.json").then((r) => r.json()).then(whole).catch(() => ({})));

/** With the rows of the table, which stand there once (under a blank), wherever their names are. */
function whole({ " ": rows, ...list }) {
  for (const [owner, entries] of Object.entries(list)) {
    list[owner] = entries.map((entry) => {
      if (typeof entry !== "string") return entry;
      const [parameters, sentence] = rows[entry] ?? rows[entry.slice(0, -1)] ?? ["", ""];
      // A method is called on its first operand.
      return [entry, "f", owner === "Tensor" ? parameters.replace(/^Tensor input(, )?/, "") : parameters, sentence];
    });
  }
  return list;
}

/** What a script calls its modules and what it imported from them: from a name to a path. */
function imported(text) {
  const paths = new Map();
  for (const [, list] of text.matchAll(/^\s*import\s+(.+)$/gm)) {
    for (const part of list.split(",")) {
      const [path, as] = part.trim().split(/\s+as\s+/);
      if (as) paths.set(as.trim(), path);
      else paths.set(path.split(".")[0], path.split(".")[0]);
    }
  }
  for (const [, module, list] of text.matchAll(/^\s*from\s+([\w.]+)\s+import\s+\(?([^#)]+?)\)?\s*$/gm)) {
    for (const part of list.split(",")) {
      const [name, as] = part.trim().split(/\s+as\s+/);
      if (/^\w+$/.test(name)) paths.set((as ?? name).trim(), `${module}.${name}`);
    }
  }
  return paths;
}

/** `F.re` as the module's path and what follows. */
function resolve(text, dotted) {
  const [first, ...rest] = dotted.split(".");
  const path = imported(text).get(first);
  return path ? [path, ...rest].join(".") : null;
}

/** The entry of a path, `[name, kind, parameters, sentence]`. */
function entry(list, path) {
  const at = path.lastIndexOf(".");
  return list[path.slice(0, at)]?.find(([name]) => name === path.slice(at + 1));
}

function option([name, kind, parameters, sentence]) {
  const detail = parameters.length > 44 ? `${parameters.slice(0, 42)}…` : parameters;
  return { label: name, type: KINDS[kind], detail: kind === "v" ? "" : `(${detail})`, info: parameters.length > 44 || sentence ? () => explanation(name, [name, kind, parameters, sentence]) : undefined };
}

function explanation(path, [, kind, parameters, sentence]) {
  const shown = Object.assign(document.createElement("div"), { className: "explains" });
  shown.append(Object.assign(document.createElement("code"), { textContent: kind === "v" ? path : `${path}(${parameters})` }));
  if (sentence) shown.append(Object.assign(document.createElement("p"), { textContent: sentence }));
  return shown;
}

/** What may follow the cursor. */
export async function complete(context) {
  const word = context.matchBefore(/[A-Za-z_][\w.]*/);
  if (!word || !word.text.includes(".")) return null;
  const list = await names();
  const at = word.text.lastIndexOf(".");
  const from = word.from + at + 1;
  const path = resolve(context.state.doc.toString(), word.text.slice(0, at));
  const below = path === null ? [] : Object.keys(list).filter((key) => key.startsWith(`${path}.`)).map((key) => key.slice(path.length + 1).split(".")[0]);
  const modules = [...new Set(below)].map((label) => ({ label, type: "namespace" }));
  const known = path === null ? VALUES.flatMap((owner) => list[owner] ?? []) : list[path];
  if (!known && modules.length === 0) return null;
  const seen = new Set();
  const options = (known ?? []).filter(([name]) => !seen.has(name) && seen.add(name)).map(option);
  return { from, options: [...modules, ...options], validFor: /^\w*$/ };
}

/** What stands under the pointer, explained; `null` where nothing is known of it. */
export async function explain(state, pos) {
  const line = state.doc.lineAt(pos);
  const at = pos - line.from;
  for (const match of line.text.matchAll(/[A-Za-z_][\w.]*/g)) {
    const end = match.index + match[0].length;
    if (match.index > at || end < at) continue;
    // As far as the part that is pointed at.
    const rest = match[0].slice(at - match.index).search(/\.|$/);
    const dotted = match[0].slice(0, at - match.index + rest).replace(/\.$/, "");
    const list = await names();
    const path = resolve(state.doc.toString(), dotted);
    const name = dotted.split(".").at(-1);
    const found = path ? entry(list, path) : dotted.includes(".") ? VALUES.flatMap((owner) => list[owner] ?? []).find(([n]) => n === name) : null;
    if (!found) return null;
    return { pos: line.from + match.index, end: line.from + match.index + dotted.length, dom: explanation(path ?? name, found) };
  }
  return null;
}
