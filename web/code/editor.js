// The editor: CodeMirror 6 (web/vendor/codemirror) in the page's colours, with marks at lines.
import {
  Decoration, EditorState, EditorView, HighlightStyle, StateEffect, StateField, autocompletion, bracketMatching, closeBrackets,
  closeBracketsKeymap, completionKeymap, defaultKeymap, drawSelection, highlightActiveLine, highlightActiveLineGutter,
  highlightSelectionMatches, highlightSpecialChars, history, historyKeymap, indentOnInput, indentUnit, indentWithTab, keymap, lineNumbers,
  lintKeymap, python, searchKeymap, setDiagnostics, syntaxHighlighting, tags,
} from "../vendor/codemirror/codemirror.js";

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

export class Editor {
  #view;
  #quiet = false;

  /** `changed()` follows every change that somebody makes, `run()` Ctrl-Enter. */
  constructor(element, { changed, run }) {
    const act = () => (run(), true);
    this.#view = new EditorView({
      parent: element,
      state: EditorState.create({
        extensions: [
          keymap.of([{ key: "Mod-Enter", run: act }, { key: "Ctrl-Enter", run: act }]),
          lineNumbers(), highlightActiveLineGutter(), highlightSpecialChars(), history(), drawSelection(), indentOnInput(), indentUnit.of("    "),
          bracketMatching(), closeBrackets(), autocompletion(), highlightActiveLine(), highlightSelectionMatches(), python(),
          syntaxHighlighting(colours), failed, EditorState.tabSize.of(4),
          keymap.of([
            ...closeBracketsKeymap, ...defaultKeymap, ...searchKeymap, ...historyKeymap, ...completionKeymap, ...lintKeymap, indentWithTab,
          ]),
          EditorView.contentAttributes.of({ "aria-label": "The script" }),
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

  focus() {
    this.#view.focus();
  }
}
