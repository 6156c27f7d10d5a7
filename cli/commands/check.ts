import { existsSync } from "node:fs";
import { Command, Option } from "commander";
import type { CheckFinding } from "../check/check.js";
import { CHECKS } from "../check/checks/index.js";
import { FORMATS, formatFindings, type Format } from "../check/formats.js";
import { checkProgram } from "../check/run.js";
import { validateWithEnvoy } from "../check/envoy.js";
import { readInput } from "../files.js";
import type { Io } from "../io.js";
import { readProgram } from "../read/program.js";
import { envoyOf, envoyOption, WHICH_ENVOY, type EnvoyFlag } from "./envoy-option.js";

interface Flags {
  format: Format;
  envoy?: EnvoyFlag;
}

const EXAMPLES = `
Every code has a page under docs/checks. A comment on the line, or on its own before it, suppresses one:
  # attempt-router: ignore default-retry-breaker

Examples:
  $ attempt-router check native.yaml
  $ attempt-router check --format sarif native.yaml rds.yaml > findings.sarif
  $ attempt-router check --envoy native.yaml

${WHICH_ENVOY}
Exit codes: 0 no error was found (warnings do not count), 1 one was, or the input is wrong, 2 wrong usage.`;

/** `attempt-router check`: `fail` is called where an error was found. */
export function checkCommand(io: Io, fail: () => void): Command {
  return new Command("check")
    .description("Find what would surprise you in native config: fallbacks that do not happen, and why.")
    .argument("<inputs...>", "native or lowered config, YAML or JSON; - reads standard input")
    .addOption(new Option("--format <format>", "of the findings").choices(FORMATS).default("text"))
    .addOption(envoyOption("also let this Envoy validate the file, and what it lowers to"))
    .addHelpText("after", EXAMPLES)
    .action((inputs: string[], flags: Flags) => run(io, inputs, flags, fail));
}

async function run(io: Io, inputs: readonly string[], flags: Flags, fail: () => void): Promise<void> {
  const envoy = envoyOf(flags.envoy, io);
  const findings: CheckFinding[] = [];
  for (const input of inputs) {
    const file = input === "-" ? "<stdin>" : input;
    const text = await readInput(input, io);
    findings.push(...checkProgram(readProgram(file, text), text, { exists: existsSync }));
    if (envoy !== undefined) findings.push(...(await validateWithEnvoy(envoy, file, text)));
  }
  io.stdout.write(formatFindings(findings, flags.format, CHECKS));
  if (findings.some(({ severity }) => severity === "error")) fail();
}
