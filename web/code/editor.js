// The editor: CodeMirror 6 (web/vendor/codemirror) in the page's colours, with marks at lines.
import {
  Decoration, EditorState, EditorView, GutterMarker, HighlightStyle, RangeSet, StateEffect, StateField, autocompletion, bracketMatching, closeBrackets,
  closeBracketsKeymap, completionKeymap, defaultKeymap, drawSelection, highlightActiveLine, highlightActiveLineGutter,
  gutter, highlightSelectionMatches, highlightSpecialChars, history, historyKeymap, indentOnInput, indentUnit, indentWithTab, keymap, lineNumbers,
  globalCompletion, hoverTooltip, lintKeymap, localCompletionSource, python, searchKeymap, setDiagnostics, syntaxHighlighting, tags,
} from "../vendor/codemirror/codemirror.js";
import { complete, explain } from "./names.js";

const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.modifier], color: "var(--backward)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--right)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--left)" },
  { tag: tags.comment, color: "var(--muted)", fontStyle: "italic" },
  { tag: [tags.definition(tags.function(tags.variableName)), tags.definition(tags.className), tags.className], color: "var(--forward)" },
  { tag: tags.meta, color: "var(--recompute)" },
]);

const failedLine = Decoration.line({ class: "failed" });
const fail = StateEffect.define();
/** The lines of the last error, until the text changes there. */
const failed = StateField.define({
  create: () => Decoration.none,
  update(lines, change) {
    lines = change.docChanged ? Decoration.none : lines;
    for (const effect of change.effects) if (effect.is(fail)) lines = effect.value;
    return lines;
  },
  provide: (field) => EditorView.decorations.from(field),
});

/** What a line became, in the margin: kernels, with their share of the work as a bar, breaks and recompilations. */
class Became extends GutterMarker {
  constructor(became, inspect) {
    super();
    this.became = became;
    this.inspect = inspect;
  }

  eq(other) {
    return JSON.stringify(this.became) === JSON.stringify(other.became);
  }

  toDOM() {
    const { line, operators, kernels, share, breaks, again } = this.became;
    const mark = document.createElement("button");
    const is = breaks > 0 ? "broken" : again.length > 0 ? "again" : operators > 0 ? "captured" : "python";
    const percent = Math.round(share * 100);
    const said = [
      operators > 0 ? `Captured: ${operators} operator${operators === 1 ? "" : "s"} in ${kernels} kernel${kernels === 1 ? "" : "s"}, ${percent} % of the bytes moved.` : "",
      breaks > 0 ? `Graph break: a value is read here in the middle of a region, ${breaks} time${breaks === 1 ? "" : "s"}.` : "",
      is === "python" ? "Python's: nothing of it was captured." : "",
      ...again.map((reason) => `Compiled again: ${reason}.`),
    ].filter(Boolean).join("\n");
    Object.assign(mark, { type: "button", className: `became ${is}`, title: said, tabIndex: -1, ariaLabel: `Line ${line}. ${said}` });
    mark.textContent = breaks > 0 ? "‖" : again.length > 0 ? "↻" : kernels > 0 ? kernels : operators > 0 ? "·" : "py";
    mark.style.setProperty("--share", `${percent}%`);
    mark.onclick = () => this.inspect(line);
    return mark;
  }
}

const become = StateEffect.define();
/** What the lines became in the last run, until the text changes. */
const became = StateField.define({
  create: () => RangeSet.empty,
  update(marks, change) {
    marks = change.docChanged ? RangeSet.empty : marks;
    for (const effect of change.effects) if (effect.is(become)) marks = effect.value;
    return marks;
  },
});

const lockedLine = Decoration.line({ class: "locked" });
const protect = StateEffect.define();
const NOTHING = { marks: Decoration.none, hidden: Decoration.none, ranges: [] };
/** Lines that may not be changed, and those that are not even shown: `ranges` has where each begins and ends. */
const guarded = StateField.define({
  create: () => NOTHING,
  update(kept, change) {
    for (const effect of change.effects) if (effect.is(protect)) return effect.value;
    if (!change.docChanged) return kept;
    const ranges = kept.ranges.map(([from, to]) => [change.changes.mapPos(from, 1), change.changes.mapPos(to, -1)]);
    return { marks: kept.marks.map(change.changes), hidden: kept.hidden.map(change.changes), ranges };
  },
  provide: (field) => [
    EditorView.decorations.from(field, (kept) => kept.marks),
    EditorView.decorations.from(field, (kept) => kept.hidden),
    EditorState.changeFilter.of((change) => change.startState.field(field).ranges.flat()),
    EditorView.atomicRanges.of((view) => view.state.field(field).hidden),
  ],
});

const hereLine = Decoration.line({ class: "here" });
const goHere = StateEffect.define();
/** The line that a paused script is at. */
const here = StateField.define({
  create: () => Decoration.none,
  update(lines, change) {
    lines = change.docChanged ? Decoration.none : lines;
    for (const effect of change.effects) if (effect.is(goHere)) lines = effect.value;
    return lines;
  },
  provide: (field) => EditorView.decorations.from(field),
});

/** What is known of the name under the pointer. */
const hovering = async (view, pos) => {
  const found = await explain(view.state, pos);
  return found && { pos: found.pos, end: found.end, above: true, create: () => ({ dom: found.dom }) };
};

export class Editor {
  #view;
  #inspect;
  #quiet = false;
  /** Whether a script is shown, and no other file: only of scripts names are known. */
  isPython = true;

  /** `changed()` follows every change that somebody makes, `run()` Ctrl-Enter, `inspect(line)` a click into the margin, `save()` Ctrl-S. */
  constructor(element, { changed, run, inspect, save }) {
    this.#inspect = inspect;
    const act = () => (run(), true);
    const ofScripts = (source) => (...place) => (this.isPython ? source(...place) : null);
    this.#view = new EditorView({
      parent: element,
      state: EditorState.create({
        extensions: [
          keymap.of([{ key: "Mod-Enter", run: act }, { key: "Ctrl-Enter", run: act }, { key: "Mod-s", run: () => (save(), true) }]),
          lineNumbers(), highlightActiveLineGutter(), highlightSpecialChars(), history(), drawSelection(), indentOnInput(), indentUnit.of("    "),
          bracketMatching(), closeBrackets(), autocompletion({ override: [complete, localCompletionSource, globalCompletion].map(ofScripts) }), hoverTooltip(ofScripts(hovering)), highlightActiveLine(), highlightSelectionMatches(), python(),
          syntaxHighlighting(colours), failed, guarded, here, became,
          gutter({ class: "cm-became", markers: (view) => view.state.field(became) }), EditorState.tabSize.of(4),
          keymap.of([
            ...closeBracketsKeymap, ...defaultKeymap, ...searchKeymap, ...historyKeymap, ...completionKeymap, ...lintKeymap, indentWithTab,
          ]),
          EditorView.contentAttributes.of({ "aria-label": "The script", tabindex: "0" }),
          EditorView.updateListener.of((update) => {
            if (update.docChanged && !this.#quiet) changed();
          }),
        ],
      }),
    });
  }

  get text() {
    return this.#view.state.doc.toString();
  }

  set text(text) {
    this.#quiet = true;
    this.#view.dispatch({ changes: { from: 0, to: this.#view.state.doc.length, insert: text }, selection: { anchor: 0 }, scrollIntoView: true });
    this.#view.dispatch(setDiagnostics(this.#view.state, []));
    this.#quiet = false;
  }

  #line(n) {
    const doc = this.#view.state.doc;
    return doc.line(Math.min(Math.max(1, n), doc.lines));
  }

  /** Marks lines as those that an exception passed through, the last one as where it was raised. */
  fail(lines) {
    const places = [...new Set(lines)].sort((a, b) => a - b).map((n) => failedLine.range(this.#line(n).from));
    this.#view.dispatch({ effects: fail.of(Decoration.set(places)) });
    if (lines.length > 0) this.#view.dispatch({ effects: EditorView.scrollIntoView(this.#line(lines.at(-1)).from, { y: "center" }) });
  }

  /** Underlines what is known to be wrong before the script runs: `{ line, name, why }`. */
  underline(problems) {
    const marks = problems.map(({ line, name, why }) => {
      const at = this.#line(line);
      // Of `torch.nn.functional.relu` the script may write no more than `F.relu`.
      const last = name?.split(".").at(-1) ?? "";
      const found = last ? at.text.search(new RegExp(`(?<![\\w])${last.replace(/\W/g, "\\$&")}(?![\\w])`)) : -1;
      const indent = at.text.length - at.text.trimStart().length;
      const [from, to] = found < 0 ? [at.from + Math.min(indent, at.length), at.to] : [at.from + found, at.from + found + last.length];
      return { from, to, severity: name ? "warning" : "error", message: why };
    });
    this.#view.dispatch(setDiagnostics(this.#view.state, marks));
  }

  /** Lines that stay as they are, and of these lines that are not shown: pairs of their numbers. */
  protect(locked, hidden) {
    const doc = this.#view.state.doc;
    const within = ([from, to]) => from <= to && from >= 1 && from <= doc.lines;
    const span = ([from, to]) => [doc.line(from).from, doc.line(Math.min(to, doc.lines)).to];
    const lines = locked.filter(within).flatMap(([from, to]) => Array.from({ length: Math.min(to, doc.lines) - from + 1 }, (_, i) => lockedLine.range(doc.line(from + i).from)));
    const away = hidden.filter(within).map(span);
    const value = {
      marks: Decoration.set(lines, true),
      hidden: Decoration.set(away.map(([from, to]) => Decoration.replace({ block: true }).range(from, to)), true),
      ranges: [...locked.filter(within).map(span), ...away].sort((a, b) => a[0] - b[0]),
    };
    this.#view.dispatch({ effects: protect.of(value) });
  }

  /** Marks in the margin what lines became: `{ line, operators, kernels, share, breaks, again }`. */
  become(lines) {
    const most = this.#view.state.doc.lines;
    const marks = lines.filter(({ line }) => line <= most).map((l) => new Became(l, this.#inspect).range(this.#line(l.line).from));
    this.#view.dispatch({ effects: become.of(RangeSet.of(marks, true)) });
  }

  /** Marks the line that a paused script is at; `null`: none. */
  here(line) {
    const at = line === null ? Decoration.none : Decoration.set([hereLine.range(this.#line(line).from)]);
    this.#view.dispatch({ effects: goHere.of(at) });
  }

  /** Shows a line and puts the cursor there. */
  reveal(line) {
    const { from } = this.#line(line);
    this.#view.dispatch({ selection: { anchor: from }, effects: EditorView.scrollIntoView(from, { y: "center" }) });
    this.#view.focus();
  }

  focus() {
    this.#view.focus();
  }
}
