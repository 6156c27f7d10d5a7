// `npm test`: builds, checks and tests everything, and ends with the line `N passed, N failed` over all runners.
import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { stripVTControlCharacters } from "node:util";
import { execa } from "execa";
import { hasValgrind } from "../bench/callgrind.js";
import { envoyVersions, findEnvoy } from "./envoy/binary.js";
import { colors } from "./terminal.js";

/** Tests that passed and failed. A check that is no test counts nothing, or one failure. */
interface Counts {
  passed: number;
  failed: number;
}

/** What a step found: its counts, and in case of a failure everything it printed. */
interface Outcome extends Counts {
  output?: string;
}

interface Step {
  name: string;
  run: () => Promise<Outcome>;
  /** The following steps mean nothing when it failed. */
  required?: true;
}

const ROOT = fileURLToPath(new URL("..", import.meta.url));
// Tools take CI for a terminal with colours; a file or a pipe is none.
const env = process.stdout.isTTY ? {} : { NO_COLOR: "1", FORCE_COLOR: "0" };
const GENERATED = ["assembly/proto", "cli/proto"];
const REGISTRY_TOOLS = ["skopeo", "buildah", "docker-registry"];
const OK: Outcome = { passed: 0, failed: 0 };

const scratch = await mkdtemp(join(tmpdir(), "attempt-router-tests-"));
try {
  const counts = await runAll([
    { name: "find Envoy", run: findEveryEnvoy, required: true },
    { name: "build", run: () => command("npm", ["run", "build"]), required: true },
    { name: "build the tests' control plane (Go)", run: buildControlPlane },
    { name: "generated code is fresh", run: checkGenerated },
    { name: "prettier", run: () => command("prettier", ["--check", "."]) },
    { name: "eslint", run: () => command("eslint", ["."]) },
    { name: "types", run: () => command("tsc", ["-p", "tsconfig.json", "--noEmit"]) },
    { name: "unit tests of the module (as-pect)", run: runUnitTests },
    { name: "tests (vitest)", run: () => runVitest([]) },
    { name: "images through a registry (vitest)", run: runRegistryTests },
    { name: "instruction budgets (callgrind)", run: runBudgets },
  ]);
  process.stdout.write(`${counts.passed} passed, ${counts.failed} failed\n`);
  process.exitCode = counts.failed === 0 ? 0 : 1;
} finally {
  await rm(scratch, { recursive: true, force: true });
}

async function runAll(steps: Step[]): Promise<Counts> {
  const total: Counts = { passed: 0, failed: 0 };
  for (const step of steps) {
    process.stdout.write(`${colors.bold(`> ${step.name}`)}\n`);
    const started = performance.now();
    const outcome = await attempt(step.run);
    total.passed += outcome.passed;
    total.failed += outcome.failed;
    if (outcome.output !== undefined) process.stdout.write(`${outcome.output.trimEnd()}\n`);
    process.stdout.write(`  ${verdict(outcome)} (${((performance.now() - started) / 1000).toFixed(1)} s)\n`);
    if (step.required === true && outcome.failed > 0) break;
  }
  return total;
}

async function attempt(run: Step["run"]): Promise<Outcome> {
  try {
    return await run();
  } catch (error) {
    return failure(error instanceof Error ? error.message : String(error));
  }
}

function verdict({ passed, failed }: Counts): string {
  if (failed > 0) return colors.red(passed > 0 ? `FAILED: ${passed} passed, ${failed} failed` : "FAILED");
  return colors.green(passed > 0 ? `ok: ${passed} passed` : "ok");
}

function failure(output: string): Outcome {
  return { passed: 0, failed: 1, output };
}

// Fetched here once, so that no test's time limit covers a download.
async function findEveryEnvoy(): Promise<Outcome> {
  const { versions } = await envoyVersions();
  for (const version of versions) await findEnvoy(version);
  return OK;
}

// Fills Go's build cache, which takes minutes the first time.
async function buildControlPlane(): Promise<Outcome> {
  const result = await execa("go", ["build", "-o", join(scratch, "server"), "."], {
    cwd: join(ROOT, "tests/xds/server"),
    reject: false,
    all: true,
  });
  return result.failed ? failure(result.all || "Go 1.26 or newer is needed for tests/xds") : OK;
}

async function command(name: string, args: string[]): Promise<Outcome> {
  const result = await exec(name, args);
  return result.failed ? failure(result.all || result.message || name) : OK;
}

function exec(name: string, args: string[]) {
  return execa(name, args, { cwd: ROOT, preferLocal: true, env, reject: false, all: true, stdin: "ignore" });
}

async function checkGenerated(): Promise<Outcome> {
  const generated = await command("buf", ["generate", "--output", scratch]);
  if (generated.failed > 0) return generated;
  const lists = await Promise.all(GENERATED.map((folder) => differences(join(ROOT, folder), join(scratch, folder))));
  const stale = lists.flatMap((names, i) => names.map((name) => `${GENERATED[i] ?? ""}/${name}`));
  return stale.length === 0 ? OK : failure(`stale, run \`npm run generate\`:\n  ${stale.join("\n  ")}`);
}

/** The files, by path relative to the folders, that are not the same in both. */
async function differences(one: string, other: string): Promise<string[]> {
  const [left, right] = await Promise.all([contents(one), contents(other)]);
  const names = new Set([...left.keys(), ...right.keys()]);
  return [...names].filter((name) => left.get(name) !== right.get(name)).sort();
}

async function contents(folder: string): Promise<Map<string, string>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const texts = await Promise.all(files.map((file) => readFile(file, "utf8")));
  return new Map(files.map((file, i) => [file.slice(folder.length + 1), texts[i] ?? ""]));
}

async function runUnitTests(): Promise<Outcome> {
  const result = await exec("asp", ["--verbose", "--summary"]);
  const found = /\[Tests\]: (\d+) \/ (\d+)/.exec(stripVTControlCharacters(result.all));
  const [passed, all] = [Number(found?.[1] ?? 0), Number(found?.[2] ?? 0)];
  return counted(passed, all - passed, result.failed, result.all);
}

interface VitestReport {
  numPassedTests: number;
  numFailedTests: number;
  testResults: { status: string; assertionResults: { status: string }[] }[];
}

interface BudgetReport {
  verdicts: { held: boolean }[];
}

// Not everybody has these tools; CI does.
async function runRegistryTests(): Promise<Outcome> {
  const found = await execa("which", REGISTRY_TOOLS, { reject: false });
  if (found.failed && process.env["CI"] === undefined) {
    process.stdout.write(`  not run: needs ${REGISTRY_TOOLS.join(", ")}\n`);
    return OK;
  }
  const images = await command("tsx", ["tools/image/main.ts"]);
  return images.failed > 0 ? images : runVitest(["--config", "vitest.extra.config.ts", "--mode", "registry"]);
}

// Counts instructions, so nothing that runs beside it can break a budget. Not everybody has valgrind; CI does.
async function runBudgets(): Promise<Outcome> {
  if (!(await hasValgrind()) && process.env["CI"] === undefined) {
    process.stdout.write("  not run: needs valgrind\n");
    return OK;
  }
  const file = join(scratch, "budgets.json");
  const result = await exec("tsx", ["bench/ci.ts", "--json", file]);
  const report = existsSync(file) ? (JSON.parse(await readFile(file, "utf8")) as BudgetReport) : { verdicts: [] };
  const failed = report.verdicts.filter(({ held }) => !held).length;
  if (!result.failed) process.stdout.write(result.stdout.replaceAll(/^/gm, "  ") + "\n");
  return counted(report.verdicts.length - failed, failed, result.failed, result.all);
}

async function runVitest(options: string[]): Promise<Outcome> {
  const file = join(scratch, "vitest.json");
  const reporters = ["--reporter=dot", "--reporter=json", `--outputFile.json=${file}`, "--silent=passed-only"];
  const result = await execa("vitest", ["run", ...options, ...reporters], {
    cwd: ROOT,
    preferLocal: true,
    env,
    reject: false,
    stdin: "ignore",
    stdout: "inherit",
    stderr: "inherit",
  });
  const report = JSON.parse(await readFile(file, "utf8")) as VitestReport;
  // A file that cannot be loaded failed without a failed test.
  const unloaded = report.testResults.filter(
    ({ status, assertionResults }) => status === "failed" && assertionResults.every((test) => test.status !== "failed"),
  );
  return counted(report.numPassedTests, report.numFailedTests + unloaded.length, result.failed, "");
}

// A runner that fails without a failed test (an unhandled error, a compile error) has still failed.
function counted(passed: number, failed: number, runnerFailed: boolean, output: string): Outcome {
  if (!runnerFailed && passed > 0) return { passed, failed };
  return { passed, failed: Math.max(failed, 1), output };
}
