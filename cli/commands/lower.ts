import { Command, InvalidArgumentError, Option } from "commander";
import type { CheckFinding } from "../check/check.js";
import { checkProgram } from "../check/run.js";
import { formatFinding } from "../findings.js";
import { readInput, writeOutput } from "../files.js";
import { lower, type FailurePolicy, type LowerOptions, type LowerReport } from "../lower.js";
import { reportText } from "../lower/report.js";
import type { Io } from "../io.js";
import { writePlaced } from "../paint.js";
import { readProgram } from "../read/program.js";

interface Flags {
  output?: string;
  wasm?: string;
  checkWasm?: string;
  wasmRemote?: string;
  wasmCluster?: string;
  sha256?: string;
  attemptHeader: boolean;
  check: boolean;
  failurePolicy: FailurePolicy;
  rds?: true;
  splitWeights?: true;
  placeBefore?: string;
  report?: true;
  format?: "text" | "json";
}

const EXAMPLES = `
Examples:
  $ attempt-router lower native.yaml -o envoy.yaml
  $ attempt-router lower native.yaml --wasm /etc/envoy/attempt-router.wasm -o envoy.yaml
  $ attempt-router lower rds.yaml -o lowered-rds.yaml         # a RouteConfiguration, Listener, Cluster or resources: [...]
  $ attempt-router lower bootstrap.yaml --rds -o envoy.yaml   # the bootstrap whose routes come from RDS
  $ attempt-router lower native.yaml --report                 # why does each route get its form?
  $ cat native.yaml | attempt-router lower - > envoy.yaml

Exit codes: 0 done, 1 the input is wrong (nothing is written), 2 wrong usage.`;

const NOTHING_TO_LOWER =
  "nothing to lower: no route with priority groups, a composite cluster or route specifiers; written as it is";

/** `attempt-router lower`. */
export function lowerCommand(io: Io): Command {
  const policy = new Option("--failure-policy <policy>", "what Envoy does when the module has failed")
    .choices(["FAIL_OPEN", "FAIL_CLOSED", "FAIL_RELOAD"])
    .default("FAIL_OPEN");
  return new Command("lower")
    .alias("compile")
    .description("Turn native Envoy config into stock config that the module steers.")
    .argument("<input>", "a bootstrap or xDS resources, YAML or JSON; - reads standard input")
    .option("-o, --output <file>", "write here instead of standard output")
    .option("--wasm <path>", "the module's file as Envoy will see it (default: the built module)")
    .option(
      "--check-wasm <file>",
      "check settings with this module (default: that of --wasm if it is here, or the built one)",
    )
    .addOption(new Option("--wasm-remote <url>", "let Envoy fetch the module").argParser(httpUrl).conflicts("wasm"))
    .addOption(new Option("--sha256 <hex>", "digest of the module at --wasm-remote").argParser(sha256))
    .option("--wasm-cluster <name>", "fetch through this cluster instead of one that is added")
    .option("--no-attempt-header", "do not send x-envoy-attempt-count upstream: one slot for all attempts")
    .addOption(policy)
    .option("--rds", "also put the module in front of routers whose routes come from RDS or SRDS")
    .option(
      "--split-weights",
      "where that is the same, write a weighted chain as one route for each share of the requests",
    )
    .option("--place-before <filter>", "put the module before this HTTP filter instead of right before the router")
    .option("--no-check", "do not note what `attempt-router check` finds")
    .option("--report", "print what each route became and why, instead of the config, which only -o writes")
    .addOption(new Option("--format <format>", "of the report (default: text)").choices(["text", "json"]))
    .addHelpText("after", EXAMPLES)
    .action((input: string, flags: Flags, command: Command) => run(io, input, flags, command));
}

async function run(io: Io, input: string, flags: Flags, command: Command): Promise<void> {
  if ((flags.wasmRemote === undefined) !== (flags.sha256 === undefined)) {
    command.error("error: options '--wasm-remote <url>' and '--sha256 <hex>' go together");
  }
  if (flags.wasmCluster !== undefined && flags.wasmRemote === undefined) {
    command.error("error: option '--wasm-cluster <name>' needs '--wasm-remote <url>'");
  }
  if (flags.format !== undefined && flags.report === undefined) {
    command.error("error: option '--format <format>' needs '--report'");
  }
  const file = input === "-" ? "<stdin>" : input;
  const text = await readInput(input, io);
  const result = lower(text, toOptions(file, flags));
  const written = flags.report === undefined || flags.output !== undefined;
  if (written) await writeOutput(flags.output, result.text, io);
  if (flags.report === true) await writeOutput(undefined, printed(result.report, flags.format), io);
  if (written && result.text === text) writePlaced(io, `${file}:1:1: ${NOTHING_TO_LOWER}`, true);
  for (const warning of result.warnings) writePlaced(io, formatFinding(warning), true);
  for (const finding of flags.check ? checkProgram(readProgram(file, text), text) : []) {
    if (finding.severity !== "info") writePlaced(io, noteOf(finding), true);
  }
}

function noteOf({ file, line, column, message, code }: CheckFinding): string {
  return `${file}:${line}:${column}: ${message} [${code}]`;
}

function printed(report: LowerReport, format: Flags["format"]): string {
  return format === "json" ? `${JSON.stringify(report, null, 2)}\n` : reportText(report);
}

function toOptions(file: string, flags: Flags): LowerOptions {
  const options: LowerOptions = {
    file,
    attemptHeader: flags.attemptHeader,
    failurePolicy: flags.failurePolicy,
    rds: flags.rds ?? false,
    splitWeights: flags.splitWeights ?? false,
  };
  if (flags.placeBefore !== undefined) options.placeBefore = flags.placeBefore;
  if (flags.wasm !== undefined) options.wasm = flags.wasm;
  if (flags.checkWasm !== undefined) options.checkWasm = flags.checkWasm;
  if (flags.wasmRemote !== undefined && flags.sha256 !== undefined) {
    options.wasmRemote = { url: flags.wasmRemote, sha256: flags.sha256 };
    if (flags.wasmCluster !== undefined) options.wasmRemote.cluster = flags.wasmCluster;
  }
  return options;
}

function httpUrl(value: string): string {
  if (URL.canParse(value) && /^https?:\/\//.test(value)) return value;
  throw new InvalidArgumentError("An http or https URL is expected.");
}

function sha256(value: string): string {
  if (/^[0-9a-fA-F]{64}$/.test(value)) return value.toLowerCase();
  throw new InvalidArgumentError("64 hexadecimal digits are expected.");
}
