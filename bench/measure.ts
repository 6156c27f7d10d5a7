// Measures rows one after another, each on an Envoy of its own.

import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { envoyVersions, findEnvoy } from "../tools/envoy/binary.js";
import { buildNoop, buildRust } from "./build-peers.js";
import { hasValgrind, instructionsPerRequest } from "./callgrind.js";
import { setRatios, UnusableInput, type Conditions, type Figure } from "./figures.js";
import { Progress } from "./progress.js";
import type { Row } from "./rows.js";

const WASM = fileURLToPath(new URL("../build/attempt-router.wasm", import.meta.url));

/** How often a row's request is sent, uncounted and counted. */
export interface Amount {
  warmUp: number;
  requests: number;
}

/** V8 has compiled the module for good after some 500 requests; and 2,000 hold close to 400 of the 20 % picks. */
export const DEFAULT_AMOUNT: Amount = { warmUp: 1_500, requests: 2_000 };

export async function conditions(amount: Amount): Promise<Conditions> {
  const { oracle } = await envoyVersions();
  const module = createHash("sha256")
    .update(await readFile(WASM))
    .digest("hex")
    .slice(0, 16);
  return { envoy: oracle, processor: cpus()[0]?.model ?? "", module, ...amount };
}

/**
 * Measures `rows`, adds them to `results` and tells `onRow` of each.
 * @throws UnusableInput where valgrind or what a peer is built with is missing, before anything is measured.
 */
export async function measure(
  rows: Row[],
  amount: Amount,
  results: Record<string, Figure>,
  onRow: (name: string, figure: Figure) => void | Promise<void>,
): Promise<void> {
  if (!(await hasValgrind())) throw new UnusableInput("valgrind is not installed: apt-get install valgrind");
  const directory = await mkdtemp(join(tmpdir(), "attempt-router-bench-"));
  const [ok, failing] = await Promise.all([upstream(200), upstream(503)]);
  const progress = new Progress();
  try {
    // All before the first is measured: a peer that cannot be built shows at once.
    const configs = await configure(rows, { ok: portOf(ok), failing: portOf(failing) }, directory);
    const { oracle } = await envoyVersions();
    const binary = await findEnvoy(oracle);
    for (const [i, row] of rows.entries()) {
      progress.start(i + 1, rows.length, row.name);
      const traffic = { path: row.path, ...amount, ...(row.awaits && { awaits: row.awaits }) };
      const counted = await instructionsPerRequest(binary, configs[i] ?? "", traffic, (text) => progress.phase(text));
      progress.end();
      const figure: Figure = { instructions: Math.round(counted), ...(row.against && { against: row.against }) };
      results[row.name] = figure;
      setRatios(results);
      await onRow(row.name, figure);
    }
  } finally {
    progress.end();
    ok.close();
    failing.close();
    await rm(directory, { recursive: true, force: true });
  }
}

async function configure(rows: Row[], upstreams: { ok: number; failing: number }, directory: string) {
  const noop = lazy(() => buildNoop(directory));
  const rust = lazy(buildRust);
  const configs: string[] = [];
  for (const row of rows) configs.push(await row.configure({ upstreams, wasm: WASM, noop, rust }));
  return configs;
}

function lazy<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
}

async function upstream(status: number): Promise<http.Server> {
  const server = http.createServer((request, response) => {
    request.resume();
    response.writeHead(status, { "content-length": "2" }).end("ok");
  });
  server.keepAliveTimeout = 600_000;
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}

function portOf(server: http.Server): number {
  return (server.address() as AddressInfo).port;
}
