import { Command, InvalidArgumentError, Option } from "commander";
import picocolors from "picocolors";
import { explain, type Question } from "../explain/explain.js";
import { renderHtml } from "../explain/html.js";
import { ModulePicks } from "../explain/module-picks.js";
import { renderExplanation } from "../explain/render.js";
import { inOrder, readAnswer, type Answer, type ExplainedRequest } from "../explain/request.js";
import { PlaceError } from "../explain/resolve.js";
import { readInput, writeOutput } from "../files.js";
import { InputError } from "../findings.js";
import type { Io } from "../io.js";
import type { Json, JsonMessage } from "../model/index.js";
import { MODULE_FILES } from "../module-path.js";
import { readModule } from "../modules.js";
import { readProgram } from "../read/program.js";

interface Flags {
  path: string;
  method: string;
  host: string;
  scheme: string;
  header: [string, string][];
  metadata?: string;
  status: Answer[];
  down: string[];
  random?: bigint;
  from: string;
  listener?: string;
  routeConfig?: string;
  wasm?: string;
  format: "text" | "json";
  html?: string;
}

const EXAMPLES = `
Answers: a status, reset, timeout (nothing comes), refused (no connection) or refused-stream; the last one repeats.

Examples:
  $ attempt-router explain native.yaml --path /v1/messages --status 429,200
  $ attempt-router explain native.yaml --path /v1/messages --header 'x-user: alice' --down provider_a
  $ attempt-router explain native.yaml --path /v1/messages --metadata chain.json --random 7 --format json
  $ attempt-router explain native.yaml --path /v1/messages --status 429,200 --html attempts.html

Exit codes: 0 done, 1 the input is wrong, 2 wrong usage.`;

/** `attempt-router explain`. */
export function explainCommand(io: Io): Command {
  return new Command("explain")
    .description("Say what happens to one request: its route, and attempt by attempt the cluster, the answer and why.")
    .argument("<input>", "native config, YAML or JSON; - reads standard input")
    .requiredOption("--path <path?query>", "path and query of the request")
    .option("--method <method>", "its method", "GET")
    .option("--host <authority>", "its authority", "localhost")
    .addOption(new Option("--scheme <scheme>", "its scheme").choices(["http", "https"]).default("http"))
    .addOption(new Option("--header <name: value>", "a header; may be repeated").argParser(header).default([], "none"))
    .option("--metadata <file>", "dynamic metadata that filters write: a JSON object by namespace")
    .addOption(
      new Option("--status <answers>", "what upstreams answer, in order").argParser(answers).default([], "200"),
    )
    .addOption(new Option("--down <clusters>", "clusters without a healthy host").argParser(names).default([], "none"))
    .addOption(new Option("--random <number>", "Envoy's random value of the request").argParser(random))
    .option("--from <address>", "address of the client", "127.0.0.1")
    .option("--listener <name>", "the listener (default: the first one with routes)")
    .option("--route-config <name>", "the route configuration, where there are several")
    .option("--wasm <file>", "the module to run (default: the built module)")
    .addOption(new Option("--format <format>", "of the output").choices(["text", "json"]).default("text"))
    .option("--html <file>", "also write one page with a drawing of the attempts")
    .addHelpText("after", EXAMPLES)
    .action((input: string, flags: Flags, command: Command) => run(io, input, flags, command));
}

async function run(io: Io, input: string, flags: Flags, command: Command): Promise<void> {
  const file = input === "-" ? "<stdin>" : input;
  const program = readProgram(file, await readInput(input, io));
  const metadata = flags.metadata === undefined ? {} : await readMetadata(flags.metadata, io);
  const module = new ModulePicks(readModule(MODULE_FILES, flags.wasm ?? MODULE_FILES.main));
  try {
    const explanation = explain(program, questionOf(flags, metadata), module);
    const colors = picocolors.createColors(io.outColors ?? false);
    const json = (): string => `${JSON.stringify(explanation, null, 2)}\n`;
    if (flags.html !== undefined) {
      await writeOutput(flags.html, renderHtml(explanation, `${flags.method.toUpperCase()} ${flags.path}`), io);
    }
    io.stdout.write(flags.format === "json" ? json() : renderExplanation(explanation, colors));
  } catch (error) {
    if (!(error instanceof PlaceError)) throw error;
    command.error(`error: ${error.message}`);
  }
}

function questionOf(flags: Flags, metadata: ExplainedRequest["metadata"]): Question {
  return {
    listener: flags.listener,
    routeConfiguration: flags.routeConfig,
    answers: inOrder(flags.status),
    down: flags.down,
    request: {
      method: flags.method.toUpperCase(),
      path: flags.path,
      authority: flags.host,
      scheme: flags.scheme,
      headers: flags.header,
      metadata,
      random: flags.random,
      client: flags.from,
    },
  };
}

/** @throws InputError where the file is no JSON object of objects. */
async function readMetadata(file: string, io: Io): Promise<Record<string, JsonMessage>> {
  const text = await readInput(file, io);
  const wrong = (found: string): InputError =>
    new InputError([{ file, line: 1, col: 1, path: "(document)", message: `expected ${METADATA}, found ${found}` }]);
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch (error) {
    throw wrong(error instanceof Error ? error.message : String(error));
  }
  const isObject = (one: Json): one is JsonMessage => typeof one === "object" && one !== null && !Array.isArray(one);
  if (!isObject(value)) throw wrong("something else");
  for (const [namespace, fields] of Object.entries(value)) {
    if (!isObject(fields)) throw wrong(`something else under ${JSON.stringify(namespace)}`);
  }
  return value as Record<string, JsonMessage>;
}

const METADATA = 'a JSON object by namespace, like {"envoy.my_filter": {"priority_groups": [{"name": "b"}]}}';

function header(line: string, before: [string, string][]): [string, string][] {
  const at = line.indexOf(":", 1);
  if (at < 1) throw new InvalidArgumentError("name: value is expected.");
  return [...before, [line.slice(0, at).trim().toLowerCase(), line.slice(at + 1).trim()]];
}

function answers(text: string, before: Answer[]): Answer[] {
  return [
    ...before,
    ...text.split(",").map((word) => {
      const answer = readAnswer(word.trim());
      if (answer === undefined) {
        throw new InvalidArgumentError("Statuses, reset, timeout, refused or refused-stream are expected.");
      }
      return answer;
    }),
  ];
}

function names(text: string, before: string[]): string[] {
  return [...before, ...text.split(",").map((name) => name.trim())];
}

function random(text: string): bigint {
  if (/^\d+$/.test(text) && BigInt(text) < 2n ** 64n) return BigInt(text);
  throw new InvalidArgumentError("An integer from 0 to 18446744073709551615 is expected.");
}
