// Results of tests as TAP 14, JUnit XML or JSON.

import type { TestResult } from "./run.js";

export const REPORTS = ["tap", "junit", "json"] as const;
export type Report = (typeof REPORTS)[number];

export function report(results: readonly TestResult[], format: Report): string {
  if (format === "json") return `${JSON.stringify(results, null, 2)}\n`;
  return format === "junit" ? junit(results) : tap(results);
}

function tap(results: readonly TestResult[]): string {
  const lines = results.flatMap(({ file, line, name, failures, skipped }, index) => {
    const state = failures.length === 0 ? "ok" : "not ok";
    const head = `${state} ${index + 1} - ${name.replaceAll("#", "\\#")}${skipped === undefined ? "" : ` # SKIP ${skipped}`}`;
    if (failures.length === 0) return [head];
    return [
      head,
      "  ---",
      `  at: ${JSON.stringify(`${file}:${line}`)}`,
      "  failures:",
      ...failures.map((one) => `  - ${JSON.stringify(one)}`),
      "  ...",
    ];
  });
  return ["TAP version 14", `1..${results.length}`, ...lines, ""].join("\n");
}

function junit(results: readonly TestResult[]): string {
  const failed = results.filter(({ failures }) => failures.length > 0).length;
  const skips = results.filter(({ skipped }) => skipped !== undefined).length;
  const cases = results.map(({ file, line, name, failures, skipped }) => {
    const attributes = `classname="${xml(file)}" name="${xml(name)}" file="${xml(file)}" line="${line}"`;
    if (skipped !== undefined) return `  <testcase ${attributes}><skipped message="${xml(skipped)}"/></testcase>`;
    if (failures.length === 0) return `  <testcase ${attributes}/>`;
    const message = xml(failures.join("\n"));
    return `  <testcase ${attributes}><failure message="${xml(failures[0] ?? "")}">${message}</failure></testcase>`;
  });
  const head = `<testsuite name="attempt-router" tests="${results.length}" failures="${failed}" skipped="${skips}">`;
  return ['<?xml version="1.0" encoding="UTF-8"?>', head, ...cases, "</testsuite>", ""].join("\n");
}

function xml(text: string): string {
  return text
    .replace(/[&<>"]/g, (char) => `&#${char.charCodeAt(0)};`)
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f]/g, "?");
}
