import { once } from "node:events";
import { Command, InvalidArgumentError, Option } from "commander";
import { flushed } from "../files.js";
import type { Io } from "../io.js";
import { Lowerer } from "../lowerer.js";
import { serveLines } from "../serve/stdio.js";
import { addLoweringOptions, httpUrl, loweringOptions, rejectHalfOptions } from "./lowering-options.js";
import type { LoweringFlags } from "./lowering-options.js";

interface Flags extends LoweringFlags {
  stdio?: true;
  listen: string;
  http: string;
  moduleUrl?: string;
  native?: true;
}

const EXAMPLES = `
As an extension server of Envoy Gateway, which the resources of attempt-router.dev are for:
  $ attempt-router serve --module-url http://attempt-router.envoy-gateway-system:8080
  $ attempt-router serve --listen 0.0.0.0:5005 --module-url http://attempt-router.envoy-gateway-system:8080
  $ attempt-router serve --native        # the proxies are Envoy 1.40 or newer: no module is needed
--http serves /attempt-router.wasm, /metrics, /healthz and /readyz. SIGTERM ends it once its calls are answered.

With --stdio, for any other control plane, one JSON object a line in, one a line out, in the same order:
  {"id": 1, "resources": [{"@type": "type.googleapis.com/envoy.config.route.v3.RouteConfiguration", ...}, ...]}
  {"id": 1, "resources": [...], "warnings": [{"path": "...", "message": "..."}]}
or, where the input is wrong:
  {"id": 1, "errors": [{"path": "resources[0].virtual_hosts[0]...", "message": "expected ..., found ..."}]}
A line may hold a "bootstrap" instead of "resources".
  $ attempt-router serve --stdio --wasm /etc/envoy/attempt-router.wasm < snapshots.jsonl

Exit codes: 0 stopped by a signal or at the end of the input, 2 wrong usage, or it cannot listen.`;

const SOCKET = "unix:/var/run/attempt-router/extension.sock";

/** `attempt-router serve`. */
export function serveCommand(io: Io): Command {
  const command = new Command("serve").description("Lower the resources of a control plane as they change.");
  const listen = new Option("--listen <address>", "for Envoy Gateway: unix:PATH or HOST:PORT");
  const http = new Option("--http <address>", "for proxies and metrics: HOST:PORT");
  return addLoweringOptions(command)
    .addOption(listen.default(SOCKET).argParser(grpcAddress))
    .addOption(http.default(":8080").argParser(hostAndPort))
    .addOption(new Option("--module-url <url>", "where the proxies reach --http").argParser(httpUrl))
    .addOption(new Option("--native", "write the specifier of Envoy 1.40 instead").conflicts("moduleUrl"))
    .addOption(
      new Option("--stdio", "JSON lines from standard input to standard output").conflicts(["native", "moduleUrl"]),
    )
    .addHelpText("after", EXAMPLES)
    .action((flags: Flags, self: Command) => run(io, flags, self));
}

async function run(io: Io, flags: Flags, command: Command): Promise<void> {
  rejectHalfOptions(flags, command);
  if (flags.stdio === true) return runStdio(io, flags);
  const isPlaced = flags.moduleUrl !== undefined || flags.wasm !== undefined || flags.wasmRemote !== undefined;
  if (!isPlaced && flags.native !== true) {
    command.error(
      "error: the proxies need the module: give --module-url <url> or --wasm <path>, or --native, or --stdio",
    );
  }
  // Loaded here, so that no other command waits for it.
  const { startServer } = await import("../serve/envoy-gateway/server.js");
  // Before the server says that it has started: whoever reads that may send the signal at once.
  const asked = Promise.race(["SIGTERM", "SIGINT"].map((signal) => once(process, signal)));
  const server = await startServer({
    listen: flags.listen,
    http: flags.http,
    moduleUrl: flags.moduleUrl,
    native: flags.native ?? false,
    lowering: loweringOptions(flags),
    log: (line) => io.stderr.write(line),
  }).catch((error: unknown) => command.error(`error: ${error instanceof Error ? error.message : "cannot listen"}`));
  await asked;
  await server.stop();
}

async function runStdio(io: Io, flags: Flags): Promise<void> {
  const write = async (line: string): Promise<void> => {
    io.stdout.write(line);
    await flushed(io);
  };
  await serveLines(io.stdin, write, new Lowerer(loweringOptions(flags)));
}

function grpcAddress(value: string): string {
  return value.startsWith("unix:/") ? value : hostAndPort(value);
}

function hostAndPort(value: string): string {
  if (/^([^:/]*|\[[0-9a-fA-F:.]+\]):\d{1,5}$/.test(value)) return value;
  throw new InvalidArgumentError("HOST:PORT is expected.");
}
