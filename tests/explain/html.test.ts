import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { bootstrapOf } from "../check/examples.js";
import { run } from "../cli/support.js";

/** The page of a request, whose config has names that HTML would take for its own. */
async function page(...args: string[]): Promise<string> {
  const file = join(mkdtempSync(join(tmpdir(), "explain-html-")), "page.html");
  const config = bootstrapOf({ groups: { "<b>one</b>": ["a", 3, "b", 1], two: ["c"] } });
  const { code } = await run(["explain", "-", "--path", "/v1?<script>&\"'", "--html", file, ...args], config);
  expect(code).toBe(0);
  return readFileSync(file, "utf8");
}

test("the page has a box for each candidate, higher for a larger share, and the likely way marked", async () => {
  const html = await page("--status", "429,200");
  const boxes = [...html.matchAll(/<title>(\w): ([\d.]+) %<\/title><rect class="(\w+)"[^>]* height="(\d+)"/g)];
  const heights = boxes.map((match) => [match[1], match[3], Number(match[4])]);
  expect(heights).toEqual([
    ["a", "marked", 81],
    ["b", "box", 50],
    ["c", "marked", 96],
  ]);
  expect(html.match(/class="way"/g)).toHaveLength(2);
  expect(html.match(/class="edge"/g)).toHaveLength(1);
  expect(html).toContain("prefers-color-scheme:dark");
});

test("a random value marks its own way", async () => {
  const html = await page("--status", "429,200", "--random", "3");
  expect(/<title>b: [^<]*<\/title><rect class="(\w+)"/.exec(html)?.[1]).toBe("marked");
});

test("nothing of the request or config is taken for HTML, and nothing is fetched", async () => {
  const html = await page("--status", "429,200");
  expect(html).not.toMatch(/<script|<b>|src=|href=|@import|url\(/);
  expect(html).toContain("&#60;b&#62;one&#60;/b&#62;");
});

test("a request without attempts has no drawing", async () => {
  const file = join(mkdtempSync(join(tmpdir(), "explain-html-")), "page.html");
  await run(["explain", "-", "--path", "/none", "--html", file], bootstrapOf({}));
  expect(readFileSync(file, "utf8")).not.toContain("<svg");
});
