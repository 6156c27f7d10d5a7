// Runs every check over a program, leaves out what comments suppress, and puts findings in the order of the file.

import type { Program } from "../model/index.js";
import type { Check, CheckFinding } from "./check.js";
import { CHECKS } from "./checks/index.js";
import { CheckContext } from "./context.js";

export interface CheckOptions {
  /** Whether a file that the config names is there; default: every one is. */
  readonly exists?: (path: string) => boolean;
  readonly checks?: readonly Check[];
}

/** The findings of a program; `text` is what it was read from, whose comments may suppress some. */
export function checkProgram(program: Program, text: string, options: CheckOptions = {}): CheckFinding[] {
  const context = new CheckContext(program, options.exists ?? (() => true));
  const found = (options.checks ?? CHECKS).flatMap((check) =>
    check.find(context).map(({ at, message, fix }) => {
      const { file, line, column, path } = at.origin;
      return { code: check.code, severity: check.severity, file, line, column, path, message, why: check.why, fix };
    }),
  );
  const ignored = suppressions(text);
  const kept = found.filter(({ line, code }) => !(ignored.get(line)?.has(code) ?? false));
  return withoutRepeats(kept).sort((a, b) => a.line - b.line || a.column - b.column || (a.code < b.code ? -1 : 1));
}

const IGNORE = /#\s*attempt-router:\s*ignore\s+([\w, -]+)/;

/** The codes that comments suppress, by line: a comment counts for its line, alone on one also for the line after it. */
export function suppressions(text: string): Map<number, Set<string>> {
  const byLine = new Map<number, Set<string>>();
  const lines = text.split("\n");
  for (const [index, line] of lines.entries()) {
    const codes = IGNORE.exec(line)?.[1]
      ?.split(/[\s,]+/)
      .filter((code) => code !== "");
    if (codes === undefined) continue;
    let target = index;
    while (/^\s*#/.test(lines[target] ?? "")) target += 1;
    const known = byLine.get(target + 1) ?? new Set<string>();
    for (const code of codes) known.add(code);
    byLine.set(target + 1, known);
  }
  return byLine;
}

/** What an alias or a shared list leads to is met once for each user. */
function withoutRepeats(findings: readonly CheckFinding[]): CheckFinding[] {
  const seen = new Set<string>();
  return findings.filter(({ code, line, column, message }) => {
    const key = JSON.stringify([code, line, column, message]);
    if (seen.has(key)) return false;
    seen.add(key);
    return true;
  });
}
