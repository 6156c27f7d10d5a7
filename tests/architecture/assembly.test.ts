import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { cycles, importsIn } from "./imports.js";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const imports = importsIn(ROOT, "assembly", "assembly/proto");

/** What the files of each folder may import, besides the files at the top of assembly/ that are for all. */
const ARROWS: Record<string, string[]> = {
  abi: [],
  wire: [],
  decide: ["wire"],
  host: ["abi"],
  route: ["decide"],
  settings: ["route", "decide", "wire"],
  specifiers: ["settings", "route", "decide", "wire"],
  hold: ["settings", "wire"],
  availability: ["host", "settings", "decide", "wire"],
  roles: ["availability", "hold", "host", "settings", "route", "decide", "wire"],
};
/** Files at the top that anything may import. */
const FOR_ALL = ["byte-buffer.ts", "bytes.ts", "text.ts", "view-list.ts"];
/** Those that wire the folders together. */
const ENTRIES = ["debug.ts", "hold-module.ts", "index.ts"];

test("a circle is seen", () => {
  const circle: [string, string[]][] = [
    ["a", ["b"]],
    ["b", ["c", "d"]],
    ["d", ["b"]],
  ];
  expect(cycles(new Map(circle))).toEqual([["b", "d", "b"]]);
});

test("no files of the module import each other in a circle", () => {
  expect(cycles(imports)).toEqual([]);
});

test("every arrow between the module's folders is one that docs/ARCHITECTURE.md draws", () => {
  const arrows = [...imports].flatMap(([file, imported]) => imported.map((other) => [file, other] as const));
  const wrong = arrows.filter(([file, other]) => !isAllowed(placeOf(file), placeOf(other)));
  expect(wrong.map((arrow) => arrow.join(" -> "))).toEqual([]);
});

test("every file of the module stands in a folder with arrows, or is one of those at the top", () => {
  const places = new Set([...imports.keys()].map(placeOf));
  expect([...places].sort()).toEqual([...Object.keys(ARROWS), ...FOR_ALL, ...ENTRIES].sort());
});

function placeOf(file: string): string {
  return file.split("/")[1] ?? "";
}

function isAllowed(from: string, to: string): boolean {
  if (ENTRIES.includes(from)) return true;
  if (from === to || FOR_ALL.includes(to)) return true;
  return ARROWS[from]?.includes(to) ?? false;
}
