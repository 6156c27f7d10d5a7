// `npm run demo`: one request after another through a real Envoy while the providers behind it fail in turn.
import { Command, InvalidArgumentError, Option } from "commander";
import { envoyVersions } from "../tools/envoy/binary.js";
import { colors } from "../tools/terminal.js";
import { startLlmGateway, tellGateway } from "./gateway-story.js";
import { Gateway } from "./gateway.js";
import { heading, say } from "./print.js";
import { PLAY_HEADER } from "../tools/llm/vendors.js";
import { tell } from "./story.js";

interface Flags {
  story: "attempts" | "gateway";
  envoy: string;
  requests: number;
  keep?: true;
}

/** Exit codes by what ends the demo early, as a shell would give them. */
const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

const { oracle, versions } = await envoyVersions();
const program = new Command("npm run demo --")
  .description("Show priority groups at work: a real Envoy, its module, and four stand-ins that play the providers.")
  .addOption(new Option("--envoy <version>", "the Envoy to run").choices(versions).default(oracle))
  .addOption(
    new Option("--story <name>", "what is told: a chain of groups, or an LLM gateway with all settings")
      .choices(["attempts", "gateway"])
      .default("attempts"),
  )
  .option("--requests <number>", "how many requests each split is counted over", positive, 500)
  .option("--keep", "leave everything running afterwards, until Ctrl-C")
  .parse();

let running: { stop(): Promise<void> } | undefined;
let interrupted = false;
// Whatever ends the demo, this comes after it; Envoy ends by itself when this process does.
const code = await Promise.race([run(program.opts<Flags>()), interruption()]);
await running?.stop();
process.exit(code);

async function run(flags: Flags): Promise<number> {
  try {
    await (flags.story === "gateway" ? runGateway(flags) : runAttempts(flags));
    return 0;
  } catch (error) {
    // A request that was under way when everything was taken down.
    if (interrupted) return 0;
    process.stderr.write(`demo: ${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  }
}

async function runAttempts({ envoy, requests, keep }: Flags): Promise<void> {
  const gateway = await Gateway.start(envoy);
  running = gateway;
  introduce(gateway, envoy);
  await tell(gateway, requests);
  if (keep === true) await stayUp(gateway);
  else say(`\n${colors.dim("To look at it yourself: npm run demo -- --keep")}`);
}

async function runGateway({ envoy, keep }: Flags): Promise<void> {
  const gateway = await startLlmGateway(envoy);
  running = gateway;
  say(colors.bold("An LLM gateway with three vendors: envoy-config/llm-gateway"));
  say(`Envoy ${envoy} runs the lowered config; stand-ins play the vendors, over TLS.`);
  await tellGateway(gateway);
  if (keep !== true) return;
  heading("Everything stays up until Ctrl-C");
  say(`  Envoy's admin    http://${gateway.envoy.admin.address}/`);
  say(`  send a request   curl -i -X POST -H '${PLAY_HEADER}: 429,error,200' ${gateway.url}`);
  await new Promise<never>(() => undefined);
}

function introduce(running: Gateway, envoy: string): void {
  say(colors.bold("attempt-router: every attempt of a request has a group of clusters of its own"));
  say();
  say("The route under test says, in native Envoy config:");
  say();
  for (const line of running.groupsYaml.trimEnd().split("\n")) say(colors.dim(`    ${line}`));
  say();
  say("Attempt 1 uses the first group, a retry the second, the next retry the third. The command");
  say(`"attempt-router lower" turned that into stock config, and Envoy ${envoy} runs it with the module.`);
}

async function stayUp(running: Gateway): Promise<never> {
  heading("Everything stays up until Ctrl-C");
  say(`  the lowered config   ${running.config}`);
  say(`  Envoy's admin        http://${running.envoy.admin.address}/`);
  say(`  send a request       curl -i -X POST ${running.url}`);
  running.providers.set({});
  for (const [index, { clusters }] of running.groups.entries()) {
    for (const { cluster_name } of clusters) {
      const what = index === 0 ? "let it answer 429 " : "cut its connection";
      say(
        `  ${what}   ${running.providers.controlCommand(cluster_name, index === 0 ? 429 : "down")}   # ${cluster_name}`,
      );
    }
  }
  say(colors.dim("  Any status from 200 to 599 works in the place of 429; 200 makes the provider well again."));
  return new Promise<never>(() => undefined);
}

function interruption(): Promise<number> {
  return new Promise((resolve) => {
    const end = (exitCode: number): void => {
      interrupted = true;
      resolve(exitCode);
    };
    for (const [signal, exitCode] of Object.entries(SIGNALS)) process.on(signal, () => end(exitCode));
    // The reader of a pipe has seen enough.
    process.stdout.on("error", () => end(0));
  });
}

function positive(value: string): number {
  if (/^[1-9]\d{0,5}$/.test(value)) return Number(value);
  throw new InvalidArgumentError("A number from 1 to 999999 is expected.");
}
