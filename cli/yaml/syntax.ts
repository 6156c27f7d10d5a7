import type { LineCounter, YAMLError } from "yaml";
import type { Finding } from "../findings.js";

/** The findings for what the parser met in a file: in the words of JSON where the file is JSON. */
export function syntaxFindings(
  file: string,
  text: string,
  lines: LineCounter,
  errors: readonly YAMLError[],
): Finding[] {
  const at = (offset: number, message: string): Finding => {
    const { line, col } = lines.linePos(offset);
    return { file, line, col, path: "(document)", message };
  };
  const repeated = errors.filter(({ code }) => code === "DUPLICATE_KEY").map(({ pos }) => at(pos[0], DUPLICATE_KEY));
  const others = errors.filter(({ code }) => code !== "DUPLICATE_KEY");
  const [first] = others;
  const json = first !== undefined && isJson(file, text) ? jsonError(text) : undefined;
  if (first !== undefined && json !== undefined) {
    return [...repeated, at(json.offset ?? first.pos[0], `expected valid JSON, found: ${json.message}`)];
  }
  return [...repeated, ...others.map(({ pos, message }) => at(pos[0], `expected valid YAML, found: ${message}`))];
}

const DUPLICATE_KEY = "expected each key of a map once, found this key again";

/** Whether a file is meant as JSON, as far as its name and its first characters say. */
export function isJson(file: string, text: string): boolean {
  return /\.json$/i.test(file) || /^\s*[{[]\s*["{}\]]/.test(text);
}

/** What is wrong with a text as JSON, and where, as far as the JSON parser says; undefined where nothing is. */
function jsonError(text: string): { message: string; offset?: number } | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    const { message } = error as SyntaxError;
    const [, what = message, position] =
      /^(.*?)(?: in JSON| after JSON)?(?: at position (\d+).*)?$/s.exec(message) ?? [];
    const short = what.replace(/, (?:\.\.\.)?".*" is not valid JSON$/s, "");
    return position === undefined ? { message: short } : { message: short, offset: Number(position) };
  }
}
