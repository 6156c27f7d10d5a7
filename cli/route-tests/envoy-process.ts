// An Envoy for the tests of a file.

import { spawn, type ChildProcess } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import http from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** Envoy did not start. */
export class EnvoyError extends Error {
  override readonly name = "EnvoyError";
}

const START_TIMEOUT_MS = 60_000;
const ROUNDS = "wasmcustom.attempt_router.availability_rounds";

/** A running Envoy whose admin interface is a socket in a folder of its own. */
export class TestEnvoy {
  private constructor(
    private readonly child: ChildProcess,
    private readonly folder: string,
    private readonly admin: string,
    readonly ports: ReadonlyMap<string, number>,
  ) {}

  /**
   * @param config the bootstrap for an admin interface at the given path
   * @throws EnvoyError with the end of what Envoy logged
   */
  static async start(binary: string, config: (admin: string) => string): Promise<TestEnvoy> {
    const folder = await mkdtemp(join(tmpdir(), "attempt-router-test-"));
    const [path, admin] = [join(folder, "envoy.json"), join(folder, "admin")];
    await writeFile(path, config(admin));
    const args = ["-c", path, "--use-dynamic-base-id", "--concurrency", "1", "--log-level", "error"];
    const child = spawn(binary, args, { stdio: ["ignore", "ignore", "pipe"] });
    let log = "";
    let ended = false;
    child.stderr.on("data", (data: Buffer) => (log = (log + data.toString()).slice(-4000)));
    child.on("error", (error) => ((ended = true), (log += error.message)));
    child.on("exit", () => (ended = true));
    const isOver = (): boolean => ended;
    const ports = await listenersOf(admin, isOver);
    if (ports !== undefined) return new TestEnvoy(child, folder, admin, ports);
    child.kill("SIGKILL");
    await rm(folder, { recursive: true, force: true });
    throw new EnvoyError(`Envoy does not start with the lowered config: ${log.trim()}`);
  }

  /** Waits until the module has asked twice which clusters have a host. */
  async knowsHosts(): Promise<void> {
    const end = Date.now() + START_TIMEOUT_MS;
    const rounds = async (): Promise<number> => {
      const text = await get(this.admin, `/stats?filter=${ROUNDS.replaceAll(".", "[.]")}`);
      return Number(/: (\d+)/.exec(text)?.[1] ?? 0);
    };
    const before = await rounds();
    while ((await rounds()) < before + 2 && Date.now() < end) await sleep(20);
  }

  async stop(): Promise<void> {
    const gone =
      this.child.exitCode !== null ? Promise.resolve() : new Promise((resolve) => this.child.once("exit", resolve));
    this.child.kill("SIGTERM");
    await gone;
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** The ports of the listeners once Envoy is ready; undefined where it never is. */
async function listenersOf(admin: string, isOver: () => boolean): Promise<Map<string, number> | undefined> {
  const end = Date.now() + START_TIMEOUT_MS;
  while (Date.now() < end && !isOver()) {
    const ready = await get(admin, "/ready").catch(() => "");
    if (ready.startsWith("LIVE")) return parseListeners(await get(admin, "/listeners?format=json"));
    await sleep(20);
  }
  return undefined;
}

function parseListeners(text: string): Map<string, number> {
  const { listener_statuses = [] } = JSON.parse(text) as {
    listener_statuses?: { name: string; local_address?: { socket_address?: { port_value: number } } }[];
  };
  return new Map(
    listener_statuses.map(({ name, local_address }) => [name, local_address?.socket_address?.port_value ?? 0]),
  );
}

function get(socketPath: string, path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = http.get({ socketPath, path }, (answer) => {
      let body = "";
      answer.on("data", (data: Buffer) => (body += data.toString()));
      answer.on("end", () => resolve(body));
      answer.on("error", reject);
    });
    request.on("error", reject);
  });
}
