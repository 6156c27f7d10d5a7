import { Document, Scalar, visit } from "yaml";
import { needsQuotes, type Json } from "./scalar.js";

export interface BlockStyle {
  indentsLists: boolean;
}

/** A value on one line, for places inside `{}` or `[]`; JSON, so that it also fits a file that is JSON altogether. */
export function renderFlow(value: Json): string {
  return JSON.stringify(value);
}

/**
 * A value in block form whose first line goes where the text is inserted and whose other lines start at `column`.
 * Strings that Envoy's loader would take for something else are quoted.
 */
export function renderBlock(value: Json, column: number, style: BlockStyle): string {
  const document = new Document(value, { aliasDuplicateObjects: false });
  visit(document, {
    Scalar(_, node) {
      if (typeof node.value === "string" && needsQuotes(node.value)) node.type = Scalar.QUOTE_DOUBLE;
    },
  });
  const text = document.toString({ lineWidth: 0, indentSeq: style.indentsLists });
  return text.trimEnd().replace(/\n/g, `\n${" ".repeat(column)}`);
}

/** `key: value` in block form, at `column`. */
export function renderPair(key: string, value: Json, column: number, style: BlockStyle): string {
  return renderBlock({ [key]: value }, column, style);
}
