// `npm run bench:host-calls -- [--row TEXT]… [--json FILE]`: instructions that one callback or one host call costs a request,
// each in a module that does nothing else, against one that does nothing at all. Needs valgrind.

import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { execa } from "execa";
import type { Figure } from "./figures.js";
import { DEFAULT_AMOUNT, measure } from "./measure.js";
import type { Row } from "./rows.js";
import { bootstrap, noopFilter } from "./scenarios.js";

const NOOP = new URL("peers/noop.ts", import.meta.url);
const NOTHING = "nothing";

/** What a module does: callbacks that it exports, or statements when it gets the headers of a request. */
interface Work {
  exports?: string;
  statements?: string;
}

const IMPORTS = {
  proxy_get_property: "path: usize, size: usize, value: usize, valueSize: usize",
  proxy_set_property: "path: usize, size: usize, value: usize, valueSize: usize",
  proxy_get_header_map_value: "map: u32, name: usize, size: usize, value: usize, valueSize: usize",
  proxy_call_foreign_function:
    "name: usize, size: usize, argument: usize, argumentSize: usize, result: usize, resultSize: usize",
};

const header = (name: string) => ({
  statements: `${bytes(name)} proxy_get_header_map_value(0, key, ${name.length}, out, out + 4);`,
});
const property = (path: string) => ({
  statements: `${bytes(path)} proxy_get_property(key, ${path.length}, out, out + 4);`,
});
const WORK: Readonly<Record<string, Work>> = {
  [NOTHING]: {},
  proxy_on_context_create: { exports: "export function proxy_on_context_create(context: u32, root: u32): void {}" },
  proxy_on_response_headers: {
    exports: "export function proxy_on_response_headers(context: u32, headers: u32, end: bool): i32 { return 0; }",
  },
  "proxy_get_header_map_value, absent": header("x-envoy-attempt-count"),
  "proxy_get_header_map_value, present": header(":path"),
  "proxy_get_property, absent": property("attempt_router.absent"),
  "proxy_get_property, xds.route_name": property("xds\0route_name"),
  "proxy_get_property, field of absent route metadata": property(
    "xds\0route_metadata\0filter_metadata\0attempt_router\0id",
  ),
  proxy_set_property: { statements: `${bytes("attempt_router.1")} proxy_set_property(key, 16, key, 2);` },
  clear_route_cache: {
    statements: `${bytes("clear_route_cache")} proxy_call_foreign_function(key, 17, 0, 0, 0, 0);`,
  },
};

const { values } = parseArgs({
  options: { row: { type: "string", multiple: true, default: [] }, json: { type: "string" } },
});
const directory = await mkdtemp(join(tmpdir(), "attempt-router-host-calls-"));
const results: Record<string, Figure> = {};
try {
  const wanted = (name: string) => name === NOTHING || values.row.some((text) => name.startsWith(text));
  const rows = Object.entries(WORK).filter(([name]) => values.row.length === 0 || wanted(name));
  process.stdout.write("| row | instructions | more than nothing |\n| --- | --- | --- |\n");
  await measure(rows.map(rowOf), DEFAULT_AMOUNT, results, (name, { instructions }) => {
    const more = instructions - (results[NOTHING]?.instructions ?? 0);
    process.stdout.write(`| ${name} | ${instructions.toLocaleString("en")} | ${more.toLocaleString("en")} |\n`);
  });
  if (values.json !== undefined) await writeFile(values.json, `${JSON.stringify({ results }, null, 2)}\n`);
} finally {
  await rm(directory, { recursive: true, force: true });
}

function rowOf([name, work]: [string, Work], index: number): Row {
  return {
    name,
    path: "/",
    configure: async ({ upstreams }) => {
      const filters = [noopFilter(await compile(work, index))];
      return named(bootstrap({ cluster: "b" }, upstreams, { filters }));
    },
  };
}

/** Gives every route a name as long as those of lowered routes: an empty value costs much less than another. */
function named(config: string): string {
  return config.replace(/( +)- match:\n/g, "$1- name: route@ar-00000000000000000123456789abcdef\n$1  match:\n");
}

function bytes(text: string): string {
  const codes = Array.from(Buffer.from(text), String).join(", ");
  return `const key = memory.data<u8>([${codes}]); const out = memory.data(8);`;
}

/** Compiles the module that does nothing with this work added, and returns its path. */
async function compile({ exports = "", statements = "" }: Work, index: number): Promise<string> {
  const imports = Object.entries(IMPORTS).map(
    ([name, parameters]) => `@external("env", "${name}") declare function ${name}(${parameters}): u32;`,
  );
  const noop = await readFile(NOOP, "utf8");
  const name = `work${index}`;
  const source = noop.replace("  return 0;", `  ${statements}\n  return 0;`);
  await writeFile(join(directory, `${name}.ts`), [...imports, exports, source].join("\n"));
  const options = { cwd: directory, preferLocal: true, localDir: import.meta.dirname };
  const flags = ["-O3", "--runtime", "stub", "--use", `abort=${name}/abort`];
  await execa("asc", [`${name}.ts`, ...flags, "-o", `${name}.wasm`], options);
  return join(directory, `${name}.wasm`);
}
