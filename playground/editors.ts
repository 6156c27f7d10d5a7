// The two CodeMirror views: the config with its findings, and the lowered file with its changed lines.

import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from "@codemirror/language";
import { lintGutter, lintKeymap, setDiagnostics, type Diagnostic } from "@codemirror/lint";
import { EditorState, RangeSet, StateEffect, StateField, type Extension } from "@codemirror/state";
import {
  Decoration,
  drawSelection,
  EditorView,
  highlightActiveLine,
  keymap,
  lineNumbers,
  type DecorationSet,
} from "@codemirror/view";
import { tags } from "@lezer/highlight";
import type { PageFinding } from "./analysis.js";

const THEME = EditorView.theme({
  "&": { backgroundColor: "var(--ground)", color: "var(--text)", height: "100%", fontSize: "13px" },
  ".cm-gutters": { backgroundColor: "var(--box)", color: "var(--soft)", borderRight: "1px solid var(--line)" },
  ".cm-activeLine": { backgroundColor: "color-mix(in srgb, var(--box) 60%, transparent)" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground, ::selection": {
    backgroundColor: "var(--markbox) !important",
  },
  ".cm-tooltip": { backgroundColor: "var(--ground)", color: "var(--text)", border: "1px solid var(--line)" },
  ".cm-changed": { backgroundColor: "var(--markbox)", boxShadow: "inset 3px 0 var(--mark)" },
});

const COLOURS = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--mark)" },
  { tag: tags.comment, color: "var(--soft)", fontStyle: "italic" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--good)" },
  { tag: [tags.labelName, tags.typeName, tags.meta], color: "var(--open)" },
]);

const COMMON: Extension = [lineNumbers(), yaml(), syntaxHighlighting(COLOURS), drawSelection(), THEME];

/** Tab is left to the browser, so that the keyboard gets out of the editor as it gets in. */
export function configEditor(parent: HTMLElement, onChange: () => void): EditorView {
  const changes = EditorView.updateListener.of(({ docChanged }) => {
    if (docChanged) onChange();
  });
  const keys = keymap.of([...defaultKeymap, ...historyKeymap, ...lintKeymap]);
  const name = EditorView.contentAttributes.of({ "aria-label": "native config" });
  const own = [history(), indentOnInput(), bracketMatching(), highlightActiveLine(), lintGutter(), keys, changes, name];
  return new EditorView({ parent, extensions: [COMMON, own] });
}

export function textOf(view: EditorView): string {
  return view.state.sliceDoc();
}

export function setText(view: EditorView, text: string): void {
  view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text }, selection: { anchor: 0 } });
}

export function showFindings(view: EditorView, findings: readonly PageFinding[]): void {
  const diagnostics = findings.map((finding): Diagnostic => {
    const line = view.state.doc.line(lineIn(view, finding.line));
    const from = Math.min(line.from + Math.max(finding.column - 1, 0), line.to);
    const message = [finding.message, ...(finding.fix === undefined ? [] : [finding.fix])].join("\n");
    return { from, to: line.to, severity: finding.severity, message };
  });
  view.dispatch(setDiagnostics(view.state, diagnostics));
}

export function goTo(view: EditorView, { line, column }: PageFinding): void {
  const { from, to } = view.state.doc.line(lineIn(view, line));
  const anchor = Math.min(from + Math.max(column - 1, 0), to);
  view.dispatch({ selection: { anchor }, effects: EditorView.scrollIntoView(anchor, { y: "center" }) });
  view.focus();
}

/** The config may have changed since it was looked at. */
function lineIn(view: EditorView, line: number): number {
  return Math.min(Math.max(line, 1), view.state.doc.lines);
}

const CHANGED = Decoration.line({ class: "cm-changed" });
const setChanged = StateEffect.define<readonly number[]>();
const changedField = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update: (before, { effects, state }) => {
    const lines = effects.find((effect) => effect.is(setChanged))?.value;
    if (lines === undefined) return before;
    const known = lines.filter((line) => line <= state.doc.lines);
    return RangeSet.of(known.map((line) => CHANGED.range(state.doc.line(line).from)));
  },
  provide: (field) => EditorView.decorations.from(field),
});

export function loweredView(parent: HTMLElement): EditorView {
  const name = EditorView.contentAttributes.of({ "aria-label": "lowered file", tabindex: "0" });
  const fixed = [EditorState.readOnly.of(true), EditorView.editable.of(false), changedField, name];
  return new EditorView({ parent, extensions: [COMMON, fixed] });
}

/** The text, and the lines that lowering changed. */
export function showLowered(view: EditorView, text: string, changed: readonly number[]): void {
  view.dispatch({
    changes: { from: 0, to: view.state.doc.length, insert: text },
    effects: setChanged.of(changed),
  });
}
