// docs/specification.md: every sentence has a test that holds it, or says how it differs and why.

import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { caseFiles } from "../support/case.js";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const SECTIONS = { C: "Composite cluster", P: "Priority group cluster specifier", R: "Route specifiers" };

interface Row {
  number: string;
  sentence: string;
  cases: string[];
  tests: { file: string; title: string }[];
  difference: string;
}

const page = readFileSync(`${ROOT}docs/specification.md`, "utf8");
const cases = caseFiles();

describe.each(Object.entries(SECTIONS))("%s: %s", (letter, heading) => {
  const rows = rowsOf(heading);

  test("the sentences are numbered without a gap", () => {
    expect(rows.map(({ number }) => number)).toEqual(rows.map((_, index) => `${letter}${index + 1}`));
    expect(rows.length).toBeGreaterThan(15);
  });

  test("each has a test, or a reason for the difference", () => {
    const without = ({ cases, tests, difference }: Row) => cases.length + tests.length === 0 && difference.length < 40;
    expect(rows.filter((row) => row.sentence === "" || without(row)).map(({ number }) => number)).toEqual([]);
  });

  test("the tests exist", () => {
    const names = rows.flatMap((row) => row.cases.map((name) => `${row.number} ${name}`));
    expect(names.filter((name) => !cases.has(name.split(" ")[1] ?? ""))).toEqual([]);
    const titles = rows.flatMap((row) => row.tests.map((one) => ({ ...one, number: row.number })));
    expect(titles.filter(({ file, title }) => !hasTest(file, title))).toEqual([]);
  });

  test("a reference to another sentence leads to one with a reason", () => {
    const references = rows.flatMap(({ difference }) => /^As (\w+)$/.exec(difference)?.[1] ?? []);
    const reasons = rows.filter(({ difference }) => difference.length >= 40).map(({ number }) => number);
    expect(references.filter((number) => !reasons.includes(number))).toEqual([]);
  });
});

/** The rows of the table under a heading. */
function rowsOf(heading: string): Row[] {
  const section = (page.split(`## ${heading}\n`)[1] ?? "").split("\n## ")[0] ?? "";
  const lines = section.split("\n").filter((line) => /^\| [A-Z]\d/.test(line));
  return lines.map((line) => {
    const [, number = "", sentence = "", held = "", difference = ""] = line.split("|").map((cell) => cell.trim());
    const names = [...held.matchAll(/`([^`]+)`(?: "([^"]+)")?/g)].map(([, name = "", title = ""]) => ({ name, title }));
    return {
      number,
      sentence,
      cases: names.filter(({ name }) => !name.startsWith("tests/")).map(({ name }) => name),
      tests: names.filter(({ name }) => name.startsWith("tests/")).map(({ name, title }) => ({ file: name, title })),
      difference,
    };
  });
}

/** Whether the file has exactly one test whose title begins so; any test where no title is given. */
function hasTest(file: string, title: string): boolean {
  if (!existsSync(ROOT + file)) return false;
  const titles = [...readFileSync(ROOT + file, "utf8").matchAll(/\b(?:test|it)\(\s*["`]([^"`]*)/g)];
  const fitting = titles.filter(([, one = ""]) => one.startsWith(title));
  return title === "" ? fitting.length > 0 : fitting.some(([, one]) => one === title) || fitting.length === 1;
}
