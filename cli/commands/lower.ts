import { Command, Option } from "commander";
import type { CheckFinding } from "../check/check.js";
import { checkProgram } from "../check/run.js";
import { formatFinding } from "../findings.js";
import { readInput, writeOutput } from "../files.js";
import { lower, type LowerOptions, type LowerReport } from "../lower.js";
import { reportText } from "../lower/report.js";
import type { Io } from "../io.js";
import { writePlaced } from "../paint.js";
import { readProgram } from "../read/program.js";
import { addLoweringOptions, loweringOptions, rejectHalfOptions, type LoweringFlags } from "./lowering-options.js";

interface Flags extends LoweringFlags {
  output?: string;
  check: boolean;
  composites?: string;
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

const NO_ROUTES_HERE =
  "nothing to lower: the routes of this connection manager come by RDS; put the module in front of them with --rds; written as it is";

/** `attempt-router lower`. */
export function lowerCommand(io: Io): Command {
  const command = new Command("lower")
    .alias("compile")
    .description("Turn native Envoy config into stock config that the module steers.")
    .argument("<input>", "a bootstrap or xDS resources, YAML or JSON; - reads standard input")
    .option("-o, --output <file>", "write here instead of standard output");
  return addLoweringOptions(command)
    .option("--composites <file>", "what defines the composite clusters, where routes and clusters are lowered apart")
    .option("--no-check", "do not note what `attempt-router check` finds")
    .option("--report", "print what each route became and why, instead of the config, which only -o writes")
    .addOption(new Option("--format <format>", "of the report (default: text)").choices(["text", "json"]))
    .addHelpText("after", EXAMPLES)
    .action((input: string, flags: Flags, command: Command) => run(io, input, flags, command));
}

async function run(io: Io, input: string, flags: Flags, command: Command): Promise<void> {
  rejectHalfOptions(flags, command);
  if (flags.format !== undefined && flags.report === undefined) {
    command.error("error: option '--format <format>' needs '--report'");
  }
  const file = input === "-" ? "<stdin>" : input;
  const text = await readInput(input, io);
  const options: LowerOptions = { file, ...loweringOptions(flags) };
  if (flags.composites !== undefined)
    options.composites = { file: flags.composites, text: await readInput(flags.composites, io) };
  const result = lower(text, options);
  const written = flags.report === undefined || flags.output !== undefined;
  if (written) await writeOutput(flags.output, result.text, io);
  if (flags.report === true) await writeOutput(undefined, printed(result.report, flags.format), io);
  if (written && result.text === text) noteNothing(io, file, text, options);
  for (const warning of result.warnings) writePlaced(io, formatFinding(warning), true);
  for (const finding of flags.check ? checkProgram(readProgram(file, text), text) : []) {
    if (finding.severity !== "info") writePlaced(io, noteOf(finding), true);
  }
}

/** Routes that come by RDS are in no file, so the one with their listener shows none. */
function noteNothing(io: Io, file: string, text: string, { rds }: LowerOptions): void {
  const managers = readProgram(file, text).listeners.flatMap((listener) => listener.managers);
  const dynamic = rds === true ? undefined : managers.find(({ dynamicRoutes }) => dynamicRoutes);
  const { line, column } = dynamic?.origin ?? { line: 1, column: 1 };
  writePlaced(io, `${file}:${line}:${column}: ${dynamic === undefined ? NOTHING_TO_LOWER : NO_ROUTES_HERE}`, true);
}

function noteOf({ file, line, column, message, code }: CheckFinding): string {
  return `${file}:${line}:${column}: ${message} [${code}]`;
}

function printed(report: LowerReport, format: Flags["format"]): string {
  return format === "json" ? `${JSON.stringify(report, null, 2)}\n` : reportText(report);
}
