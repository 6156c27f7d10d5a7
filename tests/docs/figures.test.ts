// Figures stand in one page. Elsewhere they would grow old by themselves.
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const HOME = "docs/performance.md";
/** A measured cost: instructions, nanoseconds, or a ratio to native. */
const FIGURE = /\b(?:\d+(?:,\d{3})* instructions|\d+(?:\.\d+)? (?:ns|nanoseconds)|[01]\.\d{2,3} of native)\b/g;

const pages = readdirSync(`${ROOT}docs`, { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".md"))
  .map((name) => `docs/${name}`)
  .concat("README.md", "CONTRIBUTING.md", "SECURITY.md");
const read = (page: string): string => readFileSync(ROOT + page, "utf8");

test("what a request costs stands in the page of figures only", () => {
  const elsewhere = pages
    .filter((page) => page !== HOME)
    .flatMap((page) => [...read(page).matchAll(FIGURE)].map(([figure]) => `${page}: ${figure}`));
  expect(elsewhere).toEqual([]);
});

test("that page has the figures that this test knows by their form", () => {
  expect([...read(HOME).matchAll(FIGURE)].length).toBeGreaterThan(5);
});

test("the rationale and the page of figures say the same of how exact a measurement is", () => {
  const shares = [...read("docs/RATIONALE.md").matchAll(/\b[\d.]+ %/g)].map(([share]) => share);
  expect(shares).not.toEqual([]);
  for (const share of shares) expect(read(HOME)).toContain(share);
});
