import { dirname, resolve } from "node:path";
import { Command, Option } from "commander";
import { ModulePicks } from "../explain/module-picks.js";
import { writeFailure } from "../failures.js";
import { FileWatch } from "../file-watch.js";
import { flushed, readInput } from "../files.js";
import type { Io } from "../io.js";
import { MODULE_FILES } from "../module-path.js";
import { readModule } from "../modules.js";
import { readProgram } from "../read/program.js";
import { readTestFile } from "../route-tests/file.js";
import { report, REPORTS, type Report } from "../route-tests/report.js";
import { runOnEnvoy } from "../route-tests/run-envoy.js";
import { runTest, type TestResult } from "../route-tests/run.js";
import { envoyOf, envoyOption, WHICH_ENVOY, type EnvoyFlag } from "./envoy-option.js";

interface Flags {
  format: Report;
  envoy?: EnvoyFlag;
  wasm?: string;
  watch?: true;
}

const EXAMPLES = `
A test file:
  config: native.yaml
  tests:
  - name: an overloaded provider is left
    request: {path: /v1/messages}
    answers: {provider_a: [429], provider_b: [200]}   # by cluster, in order; the last repeats, and 200 is the default
    expect: {attempts: [provider_a, provider_b], status: 200}

Examples:
  $ attempt-router test routes.test.yaml
  $ attempt-router test --format junit envoy-config/*/*.test.yaml > results.xml
  $ attempt-router test --watch routes.test.yaml
  $ attempt-router test --envoy routes.test.yaml
  $ attempt-router test --envoy /usr/local/bin/envoy routes.test.yaml

${WHICH_ENVOY}
Exit codes: 0 every test passed, 1 one failed, or the input is wrong, 2 wrong usage.`;

/** `attempt-router test`: `fail` is called where a test failed; --watch runs until a signal. */
export function testCommand(io: Io, fail: () => void): Command {
  return new Command("test")
    .description("Run unit tests of routing: requests, what upstreams answer, and the attempts that are expected.")
    .argument("<files...>", "test files")
    .addOption(new Option("--format <format>", "of the results").choices(REPORTS).default("tap"))
    .addOption(envoyOption("run the lowered config on this Envoy, with stand-ins for its upstreams"))
    .option("--wasm <file>", "the module to run without --envoy (default: the built module)")
    .option("--watch", "run again when a test file or its config changes, until Ctrl-C")
    .addHelpText("after", EXAMPLES)
    .action(async (files: string[], flags: Flags, command: Command) => {
      const envoy = envoyOf(flags.envoy, io);
      const runner = (read: Read): Promise<boolean> => runFiles(io, files, { ...flags, envoy }, read);
      if (flags.watch === true && files.includes("-")) command.error("error: option '--watch' needs files");
      const passed = await (flags.watch === true ? watched(io, runner) : runner((path) => readInput(path, io)));
      if (!passed) fail();
    });
}

type Read = (path: string) => Promise<string>;

/** Whether the last run that was not cut short passed. What is wrong with a file may be mended while it is watched. */
async function watched(io: Io, runner: (read: Read) => Promise<boolean>): Promise<boolean> {
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => stop.abort());
  const files = new FileWatch((path) => readInput(path, io));
  let passed = false;
  do {
    files.begin();
    const outcome = await runner((path) => files.read(path)).catch((error: unknown) => {
      // Ctrl-C ends an Envoy as well.
      if (!stop.signal.aborted) writeFailure(io, error);
      return false;
    });
    if (!stop.signal.aborted) passed = outcome;
    await flushed(io);
    io.stderr.write("watching: Ctrl-C ends it\n");
  } while (await files.changed(stop.signal));
  files.close();
  return passed;
}

interface Settings {
  format: Report;
  envoy: string | undefined;
  wasm?: string;
}

/** Whether every test passed. */
async function runFiles(io: Io, files: readonly string[], settings: Settings, read: Read): Promise<boolean> {
  const results: TestResult[] = [];
  for (const file of files) results.push(...(await runFile(file, settings, read)));
  io.stdout.write(report(results, settings.format));
  return results.every(({ failures }) => failures.length === 0);
}

async function runFile(path: string, { envoy, wasm }: Settings, read: Read): Promise<TestResult[]> {
  const tests = readTestFile(path, await read(path));
  const config = resolve(dirname(path), tests.config);
  const text = await read(config);
  if (envoy !== undefined) return runOnEnvoy(envoy, tests, text);
  const program = readProgram(config, text);
  const module = new ModulePicks(readModule(MODULE_FILES, wasm ?? MODULE_FILES.main));
  return tests.tests.map((test) => runTest(path, test, program, module));
}
