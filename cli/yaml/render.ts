import { needsQuotes, type Json } from "./scalar.js";

export interface BlockStyle {
  /** Whether the items of a list stand two columns to the right of its key, or right below it. */
  indentsLists: boolean;
}

/** How many characters a key may have without saying that it is one. JSON knows no such limit. */
const MAX_KEY = 1024;

/**
 * A value on one line, for places inside `{}` or `[]`; JSON, so that it also fits a file that is JSON altogether, save
 * for keys that are too long for YAML.
 */
export function renderFlow(value: Json, style: { isJson: boolean }): string {
  if (style.isJson || !hasLongKey(value)) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((item) => renderFlow(item, style)).join(",")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([key, item]) => renderFlowPair(key, item, style))
    .join(",")}}`;
}

/** `"key": value` inside `{}`. */
export function renderFlowPair(key: string, value: Json, style: { isJson: boolean }): string {
  const name = JSON.stringify(key);
  const separator = name.length > MAX_KEY && !style.isJson ? " : " : ": ";
  return `${separator === ": " ? "" : "? "}${name}${separator}${renderFlow(value, style)}`;
}

function hasLongKey(value: Json): boolean {
  if (Array.isArray(value)) return value.some(hasLongKey);
  if (value === null || typeof value !== "object") return false;
  return Object.entries(value).some(([key, item]) => JSON.stringify(key).length > MAX_KEY || hasLongKey(item));
}

/**
 * A value in block form whose first line goes where the text is inserted and whose other lines start at `column`.
 * Strings that Envoy's loader would take for something else are quoted.
 */
export function renderBlock(value: Json, column: number, style: BlockStyle): string {
  const newLine = `\n${" ".repeat(column)}`;
  if (!isFilled(value)) return renderScalar(value);
  if (Array.isArray(value)) return value.map((item) => `- ${renderBlock(item, column + 2, style)}`).join(newLine);
  return Object.entries(value)
    .map(([key, item]) => renderPair(key, item, column, style))
    .join(newLine);
}

/** `key: value` in block form, at `column`. */
export function renderPair(key: string, value: Json, column: number, style: BlockStyle): string {
  const name = renderScalar(key);
  if (name.length > MAX_KEY) return `? ${name}\n${" ".repeat(column)}: ${renderBlock(value, column + 2, style)}`;
  if (!isFilled(value)) return `${name}: ${renderScalar(value)}`;
  const inner = Array.isArray(value) && !style.indentsLists ? column : column + 2;
  return `${name}:\n${" ".repeat(inner)}${renderBlock(value, inner, style)}`;
}

function renderScalar(value: Json): string {
  return typeof value === "string" && !needsQuotes(value) ? value : JSON.stringify(value);
}

function isFilled(value: Json): value is Json[] | { [key: string]: Json } {
  return typeof value === "object" && value !== null && Object.keys(value).length > 0;
}
