// RE2 expressions under JavaScript's engine, where both mean the same.

/** Escapes that only one of the two knows, or that mean different things there. */
const UNSHARED = /\\[pPCKXRGQEzZAabx0-9]|\(\?[=!<]|\(\?P[=>]|\(\?#|[*+?}]\+|\(\?>|\\[kK]/;

const POSIX: Readonly<Record<string, string>> = {
  alnum: "0-9A-Za-z",
  alpha: "A-Za-z",
  ascii: "\\x00-\\x7F",
  blank: "\\t ",
  digit: "0-9",
  lower: "a-z",
  punct: "!-/:-@[-`{-~",
  space: "\\t\\n\\v\\f\\r ",
  upper: "A-Z",
  word: "0-9A-Za-z_",
  xdigit: "0-9A-Fa-f",
};

/**
 * Whether an RE2 expression matches all of a text, as Envoy's `safe_regex` asks; undefined where the expression uses
 * something that JavaScript has not, or has otherwise.
 */
export function fullMatch(expression: string, text: string, ignoreCase = false): boolean | undefined {
  const compiled = compile(expression, ignoreCase);
  return compiled?.test(text);
}

function compile(expression: string, ignoreCase: boolean): RegExp | undefined {
  const flags = /^\(\?([ims]+)\)/.exec(expression);
  const body = flags === null ? expression : expression.slice(flags[0].length);
  const shared = body.replace(/\(\?P</g, "(?<").replace(/\[:(\w+):\]/g, (all, name: string) => POSIX[name] ?? all);
  if (UNSHARED.test(body.replace(/\\\\/g, "")) || /\(\?[a-zA-Z-]+[):]/.test(shared.replace(/\(\?:/g, "")))
    return undefined;
  const given = flags?.[1] ?? "";
  const wanted = ignoreCase && !given.includes("i") ? `${given}i` : given;
  try {
    return new RegExp(`^(?:${shared})$`, wanted);
  } catch {
    return undefined;
  }
}
