// What the code view uses of CodeMirror 6: all that is named here, and nothing else, is in codemirror.js.
export { EditorState, Compartment, StateEffect, StateField, RangeSet } from "@codemirror/state";
export {
  EditorView, Decoration, GutterMarker, drawSelection, gutter, highlightActiveLine, highlightActiveLineGutter, highlightSpecialChars, hoverTooltip, keymap,
  lineNumbers,
} from "@codemirror/view";
export { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
export { HighlightStyle, bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
export { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
export { lintKeymap, setDiagnostics } from "@codemirror/lint";
export { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
export { python, globalCompletion, localCompletionSource, pythonLanguage } from "@codemirror/lang-python";
export { tags } from "@lezer/highlight";
