// `npm run mutate:module -- [changes] [seed] [folder…]`: plants small changes in the module, one at a time, and says which of
// them no test notices. Tests are the unit tests, then those of the built module.

import { cp, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { execa } from "execa";
import { SeededRandom } from "../../cli/host/random.js";
import { changed, changesOf, type Change } from "./changes.js";

const USAGE = `Usage: npm run mutate:module -- [changes] [seed] [folder…] [--min PERCENT]

Plants so many changes (default 50), chosen by the seed (default 1), in these folders of assembly/ (default: decide,
settings, roles), and prints those that no test noticed. --min: exit 1 where fewer of 100 were noticed.

Example: npm run mutate:module -- 20 7 decide hold`;

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const DEFAULT_FOLDERS = ["decide", "settings", "roles"];
const COPIED = ["assembly", "cli", "tests", "tools", "examples", "bench", "build", "proto"];
const FILES = ["package.json", "tsconfig.json", "vitest.config.ts", "as-pect.config.js", "as-pect.asconfig.json"];
const BUILD = ["assembly/index.ts", "--target", "release", "--transform", "./tools/asc/lean.js"];
/** Left out: those of the host, and of memory, which take long and look for what no small change does. */
const LEFT_OUT = ["host", "memory", "allocations"].flatMap((name) => ["--exclude", `tests/module/${name}.test.ts`]);
const MODULE_TESTS = ["run", "tests/module", "--bail", "1", ...LEFT_OUT];
const TIMEOUT = 180_000;

const NOTHING: Change = { file: "assembly/index.ts", line: 1, start: 0, length: 0, text: "", was: "" };

type Verdict = "noticed" | "not noticed" | "does not compile";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { min: { type: "string", default: "0" }, help: { type: "boolean" } },
});
const [count = "50", seed = "1", ...folders] = positionals;
const isWrong = ![count, seed, values.min].every((text) => /^\d+$/.test(text));
if (values.help === true || isWrong) {
  process.stdout.write(`${USAGE}\n`);
  process.exit(isWrong ? 2 : 0);
}

const scratch = await mkdtemp(join(tmpdir(), "attempt-router-mutate-"));
try {
  await prepare();
  if ((await judge(NOTHING)) !== "not noticed") throw new Error("the tests fail without any change");
  const sample = sampleOf(
    await allChanges(folders.length > 0 ? folders : DEFAULT_FOLDERS),
    Number(count),
    Number(seed),
  );
  const verdicts: Verdict[] = [];
  for (const change of sample) {
    const verdict = await judge(change);
    verdicts.push(verdict);
    process.stdout.write(`${verdict}: ${change.file}:${change.line}: ${change.was} → ${change.text}\n`);
  }
  const judged = verdicts.filter((verdict) => verdict !== "does not compile").length;
  const noticed = verdicts.filter((verdict) => verdict === "noticed").length;
  const score = judged === 0 ? 0 : (100 * noticed) / judged;
  process.stdout.write(`${noticed} of ${judged} noticed, ${score.toFixed(1)} %\n`);
  process.exitCode = score >= Number(values.min) ? 0 : 1;
} finally {
  await rm(scratch, { recursive: true, force: true });
}

/** A copy of what the tests need, so that nothing is left planted where somebody works. */
async function prepare(): Promise<void> {
  for (const name of [...COPIED, "asconfig.json", ...FILES]) {
    const filter = (path: string) => !path.includes("node_modules");
    await cp(join(ROOT, name), join(scratch, name), { recursive: true, filter });
  }
  await symlink(join(ROOT, "node_modules"), join(scratch, "node_modules"));
}

async function allChanges(names: readonly string[]): Promise<Change[]> {
  const lists = names.map(async (folder) => {
    const files = (await readdir(join(ROOT, "assembly", folder))).filter((file) => file.endsWith(".ts")).sort();
    const paths = files.map((file) => `assembly/${folder}/${file}`);
    return Promise.all(paths.map(async (path) => changesOf(path, await readFile(join(ROOT, path), "utf8"))));
  });
  return (await Promise.all(lists)).flat(2);
}

function sampleOf(changes: Change[], size: number, seed: number): Change[] {
  const random = new SeededRandom(seed);
  const left = [...changes];
  const draw = () => left.splice(random.next() % left.length, 1);
  return Array.from({ length: Math.min(size, changes.length) }, draw).flat();
}

async function judge(change: Change): Promise<Verdict> {
  const path = join(scratch, change.file);
  const text = await readFile(path, "utf8");
  await writeFile(path, changed(text, change));
  try {
    const unit = await run("asp", ["--summary"]);
    if (unit.timedOut) return "noticed";
    if (!/\[Tests\]/.test(unit.all)) return "does not compile";
    if (unit.failed) return "noticed";
    const built = await run("asc", BUILD);
    if (built.failed) return "does not compile";
    const module = await run("vitest", MODULE_TESTS);
    return module.failed || module.timedOut ? "noticed" : "not noticed";
  } finally {
    await writeFile(path, text);
  }
}

function run(command: string, args: string[]) {
  const options = {
    cwd: scratch,
    preferLocal: true,
    localDir: ROOT,
    reject: false,
    all: true,
    timeout: TIMEOUT,
  } as const;
  return execa(command, args, { ...options, stdin: "ignore" });
}
