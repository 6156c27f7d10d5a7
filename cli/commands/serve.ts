import { Command } from "commander";
import { flushed } from "../files.js";
import type { Io } from "../io.js";
import { Lowerer } from "../lowerer.js";
import { serveLines } from "../serve/stdio.js";
import { addLoweringOptions, loweringOptions, rejectHalfOptions, type LoweringFlags } from "./lowering-options.js";

interface Flags extends LoweringFlags {
  stdio?: true;
}

const EXAMPLES = `
One JSON object a line in, one a line out, in the same order:
  {"id": 1, "resources": [{"@type": "type.googleapis.com/envoy.config.route.v3.RouteConfiguration", ...}, ...]}
  {"id": 1, "resources": [...], "warnings": [{"path": "...", "message": "..."}]}
or, where the input is wrong:
  {"id": 1, "errors": [{"path": "resources[0].virtual_hosts[0]...", "message": "expected ..., found ..."}]}
A line may hold a "bootstrap" instead of "resources".

Example:
  $ attempt-router serve --stdio --wasm /etc/envoy/attempt-router.wasm < snapshots.jsonl`;

/** `attempt-router serve`. */
export function serveCommand(io: Io): Command {
  const command = new Command("serve").description("Lower the resources of a control plane as they change.");
  return addLoweringOptions(command)
    .requiredOption("--stdio", "read JSON lines from standard input, write JSON lines to standard output")
    .addHelpText("after", EXAMPLES)
    .action((flags: Flags, self: Command) => run(io, flags, self));
}

async function run(io: Io, flags: Flags, command: Command): Promise<void> {
  rejectHalfOptions(flags, command);
  const write = async (line: string): Promise<void> => {
    io.stdout.write(line);
    await flushed(io);
  };
  await serveLines(io.stdin, write, new Lowerer(loweringOptions(flags)));
}
