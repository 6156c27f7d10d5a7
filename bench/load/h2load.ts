// Requests at full speed, or at a fixed rate, by h2load: a client that costs little of the machine it shares with Envoy.

import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import { UnusableInput } from "../figures.js";
import { parseLatencies, parseSummary, type Summary } from "./parse.js";
import { pinned } from "./cores.js";

export interface LoadSpec {
  port: number;
  /** Each connection asks for these, one after another, over and over. */
  paths: readonly string[];
  headers?: Readonly<Record<string, string>>;
  /** Over all connections. */
  requests: number;
  /** HTTP/1.1, each with one request at a time. */
  connections: number;
  /** Requests per second over all connections; as fast as answers come where it is not given. */
  rate?: number;
  /** Index of the processor it must run on. */
  core?: number | undefined;
}

export interface Load extends Summary {
  /** In microseconds, in no order; empty without a rate. */
  latencies: number[];
}

const HOW_TO_GET_IT =
  "h2load is needed and was not found: it is in the package nghttp2-client of Debian and Ubuntu (apt install nghttp2-client)" +
  " and in nghttp2 of Homebrew, Fedora and Alpine";

/**
 * The version of h2load.
 * @throws UnusableInput, which says how to get it where it is missing.
 */
export async function requireH2load(): Promise<string> {
  const { stdout, failed } = await execa("h2load", ["--version"], { reject: false });
  if (failed) throw new UnusableInput(HOW_TO_GET_IT);
  return stdout.trim();
}

/** Sends the requests and waits for all answers. */
export async function load(spec: LoadSpec): Promise<Load> {
  const directory = await mkdtemp(join(tmpdir(), "attempt-router-load-"));
  try {
    const log = join(directory, "log");
    const paths = join(directory, "paths");
    await writeFile(paths, spec.paths.map((path) => `http://127.0.0.1:${spec.port}${path}\n`).join(""));
    const { rate, connections } = spec;
    const logged = rate === undefined ? [] : [`--log-file=${log}`, "--rps", String(rate / connections)];
    const args = ["--h1", "-i", paths, "-n", String(spec.requests), "-c", String(connections), ...logged];
    const headers = Object.entries(spec.headers ?? {}).flatMap(([name, value]) => ["-H", `${name}: ${value}`]);
    const { stdout } = await execa(...pinned(spec.core, "h2load", [...args, ...headers]));
    const latencies = rate === undefined ? [] : parseLatencies(await readFile(log, "utf8"));
    return { ...parseSummary(stdout), latencies };
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
