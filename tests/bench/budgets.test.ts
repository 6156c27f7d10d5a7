import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readBudgets, verdict } from "../../bench/budgets.js";
import { differingCondition, setRatios, type Figure } from "../../bench/figures.js";
import { ROWS } from "../../bench/rows.js";
import { selectRows } from "../../bench/select.js";

const CHECK = fileURLToPath(new URL("../../bench/check-budgets.ts", import.meta.url));
const CONDITIONS = { envoy: "1.40.0", processor: "any", module: "0123456789abcdef", warmUp: 1, requests: 1 };

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "attempt-router-budgets-"));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

describe("bench:check", () => {
  test("ends with 0 where every budget is held", async () => {
    const { exitCode, stdout, stderr } = await check(await figuresFile(ahead));
    expect([exitCode, stderr]).toEqual([0, ""]);
    const lines = stdout.split("\n");
    expect(lines).toHaveLength((await readBudgets()).length);
    expect(lines.every((line) => line.startsWith("ok  "))).toBe(true);
  });

  test("ends with 1 where one is exceeded, and names its rows", async () => {
    const file = await figuresFile((row) => (row === "lowered, weighted 80/20" ? 2000 : ahead(row)));
    const { exitCode, stdout, stderr } = await check(file);
    expect([exitCode, stderr]).toEqual([1, `${file}: not every budget is held`]);
    expect(stdout).toMatch(
      /^OVER one weighted .*: 2\.0000 of at most 1\.\d+: "lowered, weighted 80\/20" 2000, "native, weighted 80\/20" 1000$/m,
    );
  });

  test("ends with 1 where a row was not measured, and names it", async () => {
    const file = await figuresFile((row) => (row === "native, route without settings" ? undefined : ahead(row)));
    const { exitCode, stdout } = await check(file);
    expect(exitCode).toBe(1);
    expect(stdout).toMatch(/^MISS a route without settings.*: row "native, route without settings" was not measured$/m);
  });

  test.each([
    ["no JSON at all", "rows: 3", /: no JSON: /],
    ["something else", "[1]", /: expected what `npm run bench:instructions -- --json FILE` writes$/],
    ["null", "null", /: expected what `npm run/],
    ["a row that is no figure", withRow({ instructions: "many" }), /: row "plain cluster": expected a positive number/],
    ["a row of null", withRow(null), /: row "plain cluster": expected a positive number/],
    ["a row of nothing counted", withRow({ instructions: 0 }), /: row "plain cluster": expected a positive number/],
  ])("ends with 2 where the file holds %s", async (_, text, message) => {
    const file = join(directory, "bad.json");
    await writeFile(file, text);
    const { exitCode, stdout, stderr } = await check(file);
    expect([exitCode, stdout]).toEqual([2, ""]);
    expect(stderr.startsWith(file)).toBe(true);
    expect(stderr).toMatch(message);
  });

  test("ends with 2 without a file, or with one that is not there", async () => {
    const [none, absent] = await Promise.all([check(), check(join(directory, "absent.json"))]);
    expect([none.exitCode, none.stderr]).toEqual([2, "usage: npm run bench:check -- FILE"]);
    expect(absent.exitCode).toBe(2);
    expect(absent.stderr).toMatch(/absent\.json: cannot be read: ENOENT/);
  });
});

test("every budget is of rows that can be measured, and CI holds the two main ones", async () => {
  const names = new Set(ROWS.map(({ name }) => name));
  const budgets = await readBudgets();
  expect(budgets.flatMap(({ row, against }) => [row, against]).filter((name) => !names.has(name))).toEqual([]);
  expect(budgets.filter(({ ci }) => ci).map(({ row }) => row)).toEqual([
    "lowered, weighted 80/20",
    "lowered, single clusters",
  ]);
});

test("a ratio at the budget holds it", () => {
  const budget = { what: "it", row: "a", against: "b", atMost: 1.1 };
  const results = (instructions: number): Record<string, Figure> => ({
    a: { instructions },
    b: { instructions: 1000 },
  });
  expect(verdict(budget, results(1100)).held).toBe(true);
  expect(verdict(budget, results(1101)).held).toBe(false);
});

test("a row has the ratio to the row that it names, where that was measured", () => {
  const results: Record<string, Figure> = {
    a: { instructions: 1100, against: "b" },
    b: { instructions: 1000 },
    c: { instructions: 1000, against: "d" },
  };
  setRatios(results);
  expect([results["a"]?.ratio, results["b"]?.ratio, results["c"]?.ratio]).toEqual([1.1, undefined, undefined]);
});

test("figures of another module are told apart", () => {
  expect(differingCondition(CONDITIONS, { ...CONDITIONS })).toBeUndefined();
  expect(differingCondition(CONDITIONS, { ...CONDITIONS, module: "other" })).toBe("module");
});

describe("the rows that are chosen", () => {
  const names = (wanted: string[], unwanted: string[] = [], known: string[] = []) =>
    selectRows(ROWS, wanted, unwanted, new Set(known)).map(({ name }) => name);

  test("are all by default, less those that are not wanted", () => {
    expect(names([])).toHaveLength(ROWS.length);
    expect(names([], ["Rust"]).some((name) => name.includes("Rust"))).toBe(false);
  });

  test("bring the rows that they are compared with, unless those are known", () => {
    const chosen = ["no-op module in one chain"];
    expect(names(chosen)).toEqual(["plain cluster", ...chosen]);
    expect(names(chosen, [], ["plain cluster"])).toEqual(chosen);
  });

  test("must exist", () => {
    expect(() => names(["no such row"])).toThrow(`no row's name contains "no such row"`);
  });
});

/** Figures that hold every budget. */
function ahead(row: string): number {
  return /^(lowered|split),/.test(row) ? 900 : 1000;
}

function check(...args: string[]) {
  return execa("npx", ["tsx", CHECK, ...args], { reject: false });
}

/** A file with figures for every row of a budget. */
async function figuresFile(instructions: (row: string) => number | undefined): Promise<string> {
  const rows = (await readBudgets()).flatMap(({ row, against }) => [row, against]);
  const results = rows.map((row) => [row, { instructions: instructions(row) }] as const);
  const measured = Object.fromEntries(results.filter(([, figure]) => figure.instructions !== undefined));
  const file = join(directory, "figures.json");
  await writeFile(file, JSON.stringify({ conditions: CONDITIONS, results: measured }));
  return file;
}

function withRow(figure: unknown): string {
  return JSON.stringify({ conditions: CONDITIONS, results: { "plain cluster": figure } });
}
