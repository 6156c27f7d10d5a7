import { InvalidArgumentError, Option, type Command } from "commander";
import type { FailurePolicy, LowerOptions } from "../lower.js";

/** The options of every command that lowers. */
export interface LoweringFlags {
  wasm?: string;
  checkWasm?: string;
  wasmRemote?: string;
  wasmCluster?: string;
  sha256?: string;
  attemptHeader: boolean;
  failurePolicy: FailurePolicy;
  rds?: true;
  splitWeights?: true;
  placeBefore?: string;
}

export function addLoweringOptions(command: Command): Command {
  const policy = new Option("--failure-policy <policy>", "what Envoy does when the module has failed")
    .choices(["FAIL_OPEN", "FAIL_CLOSED", "FAIL_RELOAD"])
    .default("FAIL_OPEN");
  return command
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
    .option("--place-before <filter>", "put the module before this HTTP filter instead of right before the router");
}

/** Ends the command with a usage error where one of two options that go together is missing. */
export function rejectHalfOptions(flags: LoweringFlags, command: Command): void {
  if ((flags.wasmRemote === undefined) !== (flags.sha256 === undefined)) {
    command.error("error: options '--wasm-remote <url>' and '--sha256 <hex>' go together");
  }
  if (flags.wasmCluster !== undefined && flags.wasmRemote === undefined) {
    command.error("error: option '--wasm-cluster <name>' needs '--wasm-remote <url>'");
  }
}

export function loweringOptions(flags: LoweringFlags): LowerOptions {
  const options: LowerOptions = {
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

export function httpUrl(value: string): string {
  if (URL.canParse(value) && /^https?:\/\//.test(value)) return value;
  throw new InvalidArgumentError("An http or https URL is expected.");
}

function sha256(value: string): string {
  if (/^[0-9a-fA-F]{64}$/.test(value)) return value.toLowerCase();
  throw new InvalidArgumentError("64 hexadecimal digits are expected.");
}
