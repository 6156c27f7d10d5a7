// `npm run mutate -- [area…]`: StrykerJS plants changes in the pure folders of cli/, one at a time, and says which of them the
// nearest tests do not notice. Each area has its own tests, so that a change is not noticed by chance, far away.

import { mkdir, readFile, writeFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { execa } from "execa";

const USAGE = `Usage: npm run mutate -- [area…] [--file PATH…] [--min PERCENT]

Plants changes in these folders of cli/ (default: all that it knows), and prints those that no test notices. --file: only in
these files. --min: exit 1 where fewer of 100 were noticed (default 85). The report is build/mutate/AREA.json.

Examples: npm run mutate -- choose
          npm run mutate -- yaml --file cli/yaml/weight.ts`;

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const STRYKER = join(ROOT, "tools/mutate/stryker");

/** The tests of an area, which run the command line in their own process: where the changes are. */
const AREAS = new Map<string, string[]>([
  ["choose", ["choose/routes", "choose/managers", "weights", "surroundings", "picks"]],
  ["read", ["read", "errors", "lower", "composites-apart"]],
  [
    "yaml",
    ["errors", "bounds", "objects", "lower", "styles/anchors", "styles/collections", "styles/json", "styles/text"],
  ],
]);

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    file: { type: "string", multiple: true, default: [] },
    min: { type: "string", default: "85" },
    help: { type: "boolean" },
  },
});
const areas = positionals.length > 0 ? positionals : [...AREAS.keys()];
const isWrong = !/^\d+$/.test(values.min) || areas.some((area) => !AREAS.has(area));
if (values.help === true || isWrong) {
  process.stdout.write(`${USAGE}\n\nAreas: ${[...AREAS.keys()].join(", ")}\n`);
  process.exit(isWrong ? 2 : 0);
}

await execa("npm", ["ci", "--no-audit", "--no-fund"], { cwd: STRYKER });
await mkdir(join(ROOT, "build/mutate"), { recursive: true });
for (const area of areas) {
  const score = await scoreOf(area);
  process.stdout.write(`${area}: ${score.toFixed(1)} % noticed, ${values.min} % wanted\n`);
  if (score < Number(values.min)) process.exitCode = 1;
}

/** Plants every change of an area. How many of 100 were noticed. */
async function scoreOf(area: string): Promise<number> {
  const config = join(ROOT, `build/mutate/${area}.config.json`);
  const report = `build/mutate/${area}.json`;
  await writeFile(config, JSON.stringify(optionsOf(area, report)));
  const tests = (AREAS.get(area) ?? []).map((name) => `tests/cli/${name}.test.ts`);
  const env = { MUTATE_TESTS: tests.join(" ") };
  await execa(join(STRYKER, "node_modules/.bin/stryker"), ["run", config], { cwd: ROOT, env, stdio: "inherit" });
  const found = JSON.parse(await readFile(join(ROOT, report), "utf8")) as Report;
  // Stryker goes on without a file of tests that cannot be loaded.
  const lost = tests.filter((test) => !(test in found.testFiles));
  if (lost.length > 0) throw new Error(`no test ran of ${lost.join(", ")}`);
  return scoreIn(found);
}

function optionsOf(area: string, report: string) {
  return {
    mutate: values.file.length > 0 ? values.file : [`cli/${area}/**/*.ts`],
    testRunner: "vitest",
    plugins: ["@stryker-mutator/vitest-runner"],
    vitest: { configFile: "tools/mutate/stryker/vitest.config.ts", related: false },
    coverageAnalysis: "perTest",
    // Compiled at load, before a change can be planted.
    ignoreStatic: true,
    disableTypeChecks: false,
    // The compiler asks for `?.` where an index is always there: without it, nothing changes.
    mutator: { excludedMutations: ["OptionalChaining"] },
    concurrency: availableParallelism(),
    timeoutMS: 20_000,
    ignorePatterns: [
      "/demo",
      "/docs",
      "/tools/site",
      "/build/site",
      "/build/mutate",
      "/tests/conformance",
      "/tests/xds",
    ],
    reporters: ["clear-text", "json"],
    jsonReporter: { fileName: report },
    clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
    tempDirName: "build/mutate/sandbox",
  };
}

/** The part of Stryker's report that we count. */
interface Report {
  testFiles: Record<string, unknown>;
  files: Record<string, { mutants: { status: string }[] }>;
}

function scoreIn(report: Report): number {
  const all = Object.values(report.files).flatMap(({ mutants }) => mutants.map(({ status }) => status));
  const noticed = all.filter((status) => status === "Killed" || status === "Timeout").length;
  const missed = all.filter((status) => status === "Survived" || status === "NoCoverage").length;
  return noticed + missed === 0 ? 100 : (100 * noticed) / (noticed + missed);
}
