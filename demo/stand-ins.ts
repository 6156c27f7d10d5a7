// `npm run stand-ins`: local servers that play the providers of a config that you run yourself.
import { Command } from "commander";
import { colors } from "../tools/terminal.js";
import { say } from "./print.js";
import { Providers, type Mood, type Visit } from "./providers.js";

/** One argument: `model_1=9001:429` is the provider model_1 on port 9001, which answers 429. */
interface StandIn {
  name: string;
  port: number;
  mood: Mood;
}

/** The providers of envoy-config/start: the preferred ones are overloaded. */
const START = ["model_1=9001:429", "model_2=9002:429", "provider_b=9003"];

const program = new Command("npm run stand-ins --")
  .description("Play providers on local ports, and print each attempt that reaches one. Ends with Ctrl-C.")
  .argument("[stand-ins...]", "NAME=PORT, NAME=PORT:STATUS or NAME=PORT:down", START)
  .addHelpText(
    "after",
    `
Without arguments: ${START.join(" ")}, for envoy-config/start/native.yaml.

Examples:
  npm run stand-ins
  npm run stand-ins -- openai=9001:503 anthropic=9002:down local=9003`,
  )
  .parse();

const standIns = (program.processedArgs[0] as string[]).map(parse);
const ports = Object.fromEntries(standIns.map(({ name, port }) => [name, port]));
const moods = Object.fromEntries(standIns.map(({ name, mood }) => [name, mood]));
try {
  const providers = await Providers.start(Object.keys(ports), { ports, onVisit: print });
  providers.set(moods);
  for (const { name, mood } of standIns) {
    say(`${name} listens on port ${providers.port(name)} and answers ${mood}.`);
    say(colors.dim(`  to change that: ${providers.controlCommand(name, mood === 200 ? 503 : 200)}`));
  }
} catch (error) {
  process.stderr.write(`stand-ins: ${(error as Error).message}\n`);
  process.exit(1);
}

function print({ cluster, mood }: Visit): void {
  say(`${cluster}: ${mood === 200 ? colors.green("200") : colors.red(String(mood))}`);
}

function parse(text: string): StandIn {
  const [, name = "", port, mood] = /^([\w.-]+)=(\d{1,5})(?::([2-5]\d\d|down))?$/.exec(text) ?? [];
  if (name === "" || Number(port) > 65_535) {
    program.error(
      `error: "${text}" is no stand-in. Write NAME=PORT, NAME=PORT:STATUS (200 to 599) or NAME=PORT:down.`,
      {
        exitCode: 2,
      },
    );
  }
  return { name, port: Number(port), mood: mood === "down" ? mood : Number(mood ?? 200) };
}
