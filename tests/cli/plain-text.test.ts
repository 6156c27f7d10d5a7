// A plain text is read without the library: to the same tree, or not at all. The library reads every text here again, so the
// check of what is written, which is the same reading, never passes what is no YAML.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { isPlain } from "../../cli/yaml/plain/read.js";
import { Random } from "../fuzz/random.js";
import { largeBootstrap } from "./large.js";
import { compareWithLibrary } from "./plain-text.js";

const TEXTS = execFileSync("git", ["ls-files", "-z", "*.yaml", "*.yml", "*.json"], { encoding: "utf8" })
  .split("\0")
  .filter((file) => file !== "" && !file.includes("package-lock"))
  .map((file) => ({ file, text: readFileSync(file, "utf8") }))
  .filter(({ text }) => text.length < 100_000);

const PIECES = `\n|  |- |-|: |#| #|{|}|[|]|,|"|'|1|~|true|\n\n|\n  |---|...|? |&a |*a|!x |\\|\\n|0x1|- - |\nkey: |\nkey: v|\t|:|@|%
| \n|''|""|<<|= |1.0|.5|é|# c\n|\n# c\n|\r\n| |=`;
const REPLACEMENTS = [...PIECES.split("|"), "|", "|-", "|-\n", ">\n"];

test("every file of the repository is read as the library reads it, and most are plain", () => {
  const results = TEXTS.map(({ file, text }) => ({ file, result: compareWithLibrary(text) }));
  expect(results.filter(({ result }) => result !== "same" && result !== "library")).toEqual([]);
  expect(results.filter(({ result }) => result === "same").length).toBeGreaterThan(0.8 * TEXTS.length);
});

test("so is what is left of them after small changes", () => {
  const random = new Random(12);
  const wrong: unknown[] = [];
  let same = 0;
  for (let run = 0; run < 5_000; run += 1) {
    const text = changed(someLines(random.pick(TEXTS).text, random), random);
    const result = compareWithLibrary(text);
    if (result === "same") same += 1;
    else if (result !== "library") wrong.push({ text, result });
  }
  expect(wrong).toEqual([]);
  expect(same).toBeGreaterThan(500);
});

test("a large bootstrap is plain", () => {
  expect(isPlain(largeBootstrap(20, 10))).toBe(true);
  expect(isPlain(JSON.stringify({ static_resources: { clusters: [{ name: "a", weight: -1.5 }] } }, null, 2))).toBe(
    true,
  );
});

describe("not plain is", () => {
  test.each([
    ["a key that stands twice", "a: 1\na: 2\n"],
    ["the same key, quoted", `{a: 1, "a": 2}\n`],
    ["a key that stands twice among many", [...Array(40).keys()].map((key) => `k${key % 39}: 1\n`).join("")],
    ["an anchor", "a: &b 1\n"],
    ["a tag", "a: !ignore 1\n"],
    ["a second document", "a: 1\n---\nb: 1\n"],
    ["a scalar that goes on", "a: b\n  c\n"],
    ["a map that starts elsewhere", "a:\n    b: 1\n  c: 1\n"],
    ["a map on the line of a key", "a: b: c\n"],
    ["a list that does not close", "a: [1, 2\n"],
    ["a list whose end stands too far left", "a: [\n1\n]\n"],
    ["an empty text", "# nothing\n"],
    ["depth", `${"[".repeat(200)}${"]".repeat(200)}`],
  ])("%s", (_, text) => {
    expect(isPlain(text)).toBe(false);
  });
});

function someLines(text: string, random: Random): string {
  const lines = text.split("\n");
  const from = random.below(lines.length);
  return lines.slice(from, from + 1 + random.below(14)).join("\n") + (random.chance(0.8) ? "\n" : "");
}

/** The text with up to three pieces of it removed or replaced. */
function changed(text: string, random: Random): string {
  let result = text;
  for (let left = random.below(4); left > 0; left -= 1) {
    const at = random.below(result.length + 1);
    const removed = random.chance(0.3) ? 0 : random.below(6);
    result = result.slice(0, at) + random.pick(REPLACEMENTS) + result.slice(at + removed);
  }
  return result;
}
