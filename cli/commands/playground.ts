import { once } from "node:events";
import { Command, InvalidArgumentError } from "commander";
import { flushed, readInput } from "../files.js";
import { InputError } from "../findings.js";
import type { Io } from "../io.js";
import { servePlayground } from "../playground/server.js";
import { fragmentOf } from "../playground/share.js";

const EXAMPLES = `
Everything runs in your browser, the module too, and nothing is sent anywhere. The address has the config behind the #.

Examples:
  $ attempt-router playground
  $ attempt-router playground native.yaml --port 8080

Exit codes: 0 stopped by a signal, 1 the input or the port cannot be used, 2 wrong usage.`;

/** `attempt-router playground`: runs until a signal, or until `stop` is aborted. */
export function playgroundCommand(io: Io, stop?: AbortSignal): Command {
  return new Command("playground")
    .description("Serve a page to this machine: edit a config, and see findings, attempts and the lowered file.")
    .argument("[input]", "the config to begin with; - reads standard input")
    .option("--port <port>", "on 127.0.0.1 (default: one that is free)", port)
    .addHelpText("after", EXAMPLES)
    .action((input: string | undefined, flags: { port?: number }) => run(io, input, flags.port ?? 0, stop));
}

async function run(io: Io, input: string | undefined, port: number, stop: AbortSignal | undefined): Promise<void> {
  const fragment = input === undefined ? "" : await fragmentOf({ config: await readInput(input, io), form: {} });
  const server = await servePlayground(port).catch((error: unknown) => {
    throw isTaken(error) ? portError(port) : error;
  });
  const ended = stop === undefined ? signal() : once(stop, "abort");
  io.stdout.write(`${server.url}${fragment}\n`);
  await flushed(io);
  await ended;
  await server.close();
}

function signal(): Promise<unknown> {
  return Promise.race([once(process, "SIGINT"), once(process, "SIGTERM")]);
}

function isTaken(error: unknown): boolean {
  return error instanceof Error && "code" in error && ["EADDRINUSE", "EACCES"].includes(String(error.code));
}

function portError(port: number): InputError {
  const message = `expected a port that is free, found ${port}: give another with --port, or none`;
  return new InputError([{ file: "", line: 0, col: 0, path: "--port", message }]);
}

function port(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) < 65536) return Number(text);
  throw new InvalidArgumentError("A port from 0 to 65535 is expected.");
}
