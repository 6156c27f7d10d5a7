import { dirname, resolve } from "node:path";
import { Command, Option } from "commander";
import { ModulePicks } from "../explain/module-picks.js";
import { readInput } from "../files.js";
import type { Io } from "../io.js";
import { MODULE_FILES } from "../module-path.js";
import { readModule } from "../modules.js";
import { readProgram } from "../read/program.js";
import { readTestFile } from "../route-tests/file.js";
import { report, REPORTS, type Report } from "../route-tests/report.js";
import { runOnEnvoy } from "../route-tests/run-envoy.js";
import { runTest, type TestResult } from "../route-tests/run.js";

interface Flags {
  format: Report;
  envoy?: string;
  wasm?: string;
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
  $ attempt-router test --envoy /usr/local/bin/envoy routes.test.yaml

Exit codes: 0 every test passed, 1 one failed, or the input is wrong, 2 wrong usage.`;

/** `attempt-router test`: `fail` is called where a test failed. */
export function testCommand(io: Io, fail: () => void): Command {
  return new Command("test")
    .description("Run unit tests of routing: requests, what upstreams answer, and the attempts that are expected.")
    .argument("<files...>", "test files")
    .addOption(new Option("--format <format>", "of the results").choices(REPORTS).default("tap"))
    .option("--envoy <path>", "run the lowered config on this Envoy, with stand-ins for its upstreams")
    .option("--wasm <file>", "the module to run without --envoy (default: the built module)")
    .addHelpText("after", EXAMPLES)
    .action((files: string[], flags: Flags) => run(io, files, flags, fail));
}

async function run(io: Io, files: readonly string[], flags: Flags, fail: () => void): Promise<void> {
  const results: TestResult[] = [];
  for (const file of files) results.push(...(await runFile(io, file, flags)));
  io.stdout.write(report(results, flags.format));
  if (results.some(({ failures }) => failures.length > 0)) fail();
}

async function runFile(io: Io, path: string, flags: Flags): Promise<TestResult[]> {
  const tests = readTestFile(path, await readInput(path, io));
  const config = resolve(dirname(path), tests.config);
  const text = await readInput(config, io);
  if (flags.envoy !== undefined) return runOnEnvoy(flags.envoy, tests, text);
  const program = readProgram(config, text);
  const module = new ModulePicks(readModule(MODULE_FILES, flags.wasm ?? MODULE_FILES.main));
  return tests.tests.map((test) => runTest(path, test, program, module));
}
