import { Option } from "commander";
import { installedEnvoy } from "../installed-envoy.js";
import type { Io } from "../io.js";

/** `--envoy`: a path, or true and "" where it stands alone. */
export type EnvoyFlag = string | true | undefined;

/** What stands behind every `--envoy`. */
export const WHICH_ENVOY =
  "Without a path, --envoy takes ATTEMPT_ROUTER_ENVOY, envoy on the PATH, or the newest one that the tests or the demo fetched.";

export function envoyOption(description: string): Option {
  return new Option("--envoy [path]", `${description} (default: the one found)`);
}

/**
 * The Envoy to run, undefined where none is asked for. One that was not named is told on standard error.
 * @throws NoEnvoyError
 */
export function envoyOf(flag: EnvoyFlag, io: Io): string | undefined {
  if (flag !== true && flag !== "") return flag;
  const { path, from } = installedEnvoy();
  io.stderr.write(`note: the Envoy is ${path}, from ${from}\n`);
  return path;
}

/** Lets `--envoy native.yaml` mean the option alone and then an input, since no Envoy is called so. */
export function withBareEnvoy(args: readonly string[]): string[] {
  const isInput = (arg: string | undefined): boolean => arg === "-" || /\.(ya?ml|json)$/.test(arg ?? "");
  return args.map((arg, index) => (arg === "--envoy" && isInput(args[index + 1]) ? "--envoy=" : arg));
}
