// `npm run bench:lowering`: what lowering costs by itself: CPU time, and the peak of memory of a process that does nothing
// else, for plain objects and for text, cold and warm.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execaNode } from "execa";
import { Cursor } from "../cli/yaml/cursor.js";
import { Source } from "../cli/yaml/source.js";
import { largeBootstrap } from "../tests/cli/large.js";
import type { LoweringFigure } from "./lowering/child.js";

/** What the child does with the file. */
export type LoweringMode = "objects" | "warm objects" | "text";

const ROWS: { name: string; routes: number; filter: boolean; mode: LoweringMode }[] = [
  { name: "objects, 300 routes", routes: 300, filter: false, mode: "objects" },
  { name: "objects, 1 of 300 routes changed, warm", routes: 300, filter: false, mode: "warm objects" },
  { name: "objects, 3,000 routes", routes: 3000, filter: false, mode: "objects" },
  { name: "objects, 4,000 routes behind a filter", routes: 4000, filter: true, mode: "objects" },
  { name: "text, 300 routes", routes: 300, filter: false, mode: "text" },
  { name: "text, 3,000 routes", routes: 3000, filter: false, mode: "text" },
];

const CHILD = fileURLToPath(new URL("lowering/child.ts", import.meta.url));
const CLUSTERS = 100;
const LUA = `          - name: envoy.filters.http.lua
            typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.lua.v3.Lua}`;

async function main(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "attempt-router-lowering-"));
  try {
    process.stdout.write("| input | CPU | memory before | at its peak |\n| --- | --- | --- | --- |\n");
    for (const row of ROWS) {
      const { cpuMs, beforeMb, peakMb } = await figureOf(row, folder);
      process.stdout.write(`| ${row.name} | ${cpuMs} ms | ${beforeMb} MB | ${peakMb} MB |\n`);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function figureOf({ routes, filter, mode }: (typeof ROWS)[number], folder: string): Promise<LoweringFigure> {
  const file = join(folder, "input");
  const plain = largeBootstrap(routes, CLUSTERS);
  const text = filter ? plain.replace(/^ *http_filters:$/m, `$&\n${LUA}`) : plain;
  writeFileSync(file, mode === "text" ? text : JSON.stringify(Cursor.root(Source.parse(file, text)).json()));
  const { stdout } = await execaNode({ nodeOptions: ["--import", "tsx"] })(CHILD, [mode, file]);
  return JSON.parse(stdout) as LoweringFigure;
}

await main();
