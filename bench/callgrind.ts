// Instructions per request of Envoy's worker, counted by callgrind between two points of one run: neither the start nor the
// compilation of the first requests is in the figure, and it repeats within 0.2 % where times do not.

import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import http from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import { Admin } from "../tools/envoy/admin.js";
import { waitFor } from "../tools/wait.js";

/** What is sent, one request after another on one connection. */
export interface Traffic {
  path: string;
  /** Requests before counting starts: V8 has compiled the module for good and caches are filled by then. */
  warmUp: number;
  requests: number;
  /** A statistic that must have counted something before requests are counted. */
  awaits?: string;
}

const START_TIMEOUT_MS = 400_000;
/** Requests between the start of the instrumentation and the start of the count. */
const SETTLE = 20;

/** Whether callgrind is installed. */
export async function hasValgrind(): Promise<boolean> {
  return !(await execa("valgrind", ["--version"], { reject: false })).failed;
}

/**
 * Starts `binary` under callgrind and returns the instructions per request. Every response must be a 200.
 * @param onPhase is told what happens now.
 */
export async function instructionsPerRequest(
  binary: string,
  bootstrap: string,
  traffic: Traffic,
  onPhase: (phase: string) => void = () => undefined,
): Promise<number> {
  const directory = await mkdtemp(join(tmpdir(), "attempt-router-bench-"));
  await writeFile(join(directory, "envoy.yaml"), bootstrap);
  const process = start(binary, directory);
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  try {
    onPhase("starting Envoy");
    const { port, pid, admin } = await ready(process, directory);
    const target = { agent, port, host: "127.0.0.1", path: traffic.path };
    onPhase("warming up");
    if (traffic.awaits !== undefined) await admin.waitForStat(traffic.awaits, (value) => value > 0, START_TIMEOUT_MS);
    await send(target, traffic.warmUp);
    await execa("callgrind_control", ["-i", "on", String(pid)]);
    await send(target, SETTLE);
    onPhase("counting");
    await execa("callgrind_control", ["-z", String(pid)]);
    await send(target, traffic.requests);
    await execa("callgrind_control", ["-d", String(pid)]);
    return (await counted(directory)) / traffic.requests;
  } finally {
    agent.destroy();
    process.kill("SIGKILL");
    await process;
    await rm(directory, { recursive: true, force: true });
  }
}

type Process = ReturnType<typeof start>;

// Ends when this process does, however that is.
function start(binary: string, directory: string) {
  const valgrind = [
    "--tool=callgrind",
    // V8 writes code where it wrote other code before.
    "--smc-check=all-non-file",
    // Uncounted, a start takes seconds instead of a minute.
    "--instr-atstart=no",
    // What the main thread does by the clock is no part of a request.
    "--separate-threads=yes",
    `--callgrind-out-file=${join(directory, "counts")}`,
  ];
  const envoy = ["-c", join(directory, "envoy.yaml"), "--admin-address-path", join(directory, "admin")];
  const quiet = ["--disable-hot-restart", "--concurrency", "1", "--log-level", "off"];
  return execa("valgrind", [...valgrind, binary, ...envoy, ...quiet], { reject: false, stdio: "ignore" });
}

async function ready(process: Process, directory: string): Promise<{ port: number; pid: number; admin: Admin }> {
  const ended = () => process.exitCode !== null || process.signalCode !== null;
  const live = await waitFor(
    "Envoy under callgrind to be live",
    async () => {
      if (ended()) return "ended";
      const admin = new Admin(await readFile(join(directory, "admin"), "utf8"));
      await admin.get("/ready");
      const { listener_statuses } = JSON.parse(await admin.get("/listeners?format=json")) as Listeners;
      const port = listener_statuses.find(({ name }) => name === "bench")?.local_address.socket_address?.port_value;
      return port !== undefined && { port, admin };
    },
    START_TIMEOUT_MS,
  );
  if (live === "ended" || process.pid === undefined) {
    throw new Error("Envoy ended at start: does it accept the configuration?");
  }
  return { ...live, pid: process.pid };
}

interface Listeners {
  listener_statuses: { name: string; local_address: { socket_address?: { port_value: number } } }[];
}

async function send(target: http.RequestOptions, count: number): Promise<void> {
  for (let i = 0; i < count; i++) await sendOne(target);
}

async function sendOne(target: http.RequestOptions): Promise<void> {
  const [response] = (await once(http.get(target), "response")) as [http.IncomingMessage];
  response.resume();
  await once(response, "end");
  if (response.statusCode !== 200) throw new Error(`status ${response.statusCode ?? 0} in the benchmark`);
}

// One file for each thread, which ends in `totals: N`. The worker is the busiest.
async function counted(directory: string): Promise<number> {
  const dumps = (await readdir(directory)).filter((name) => /^counts\.\d+/.test(name));
  const texts = await Promise.all(dumps.map((name) => readFile(join(directory, name), "utf8")));
  const totals = texts.flatMap((text) =>
    [...text.matchAll(/^(?:totals|summary): (\d+)/gm)].slice(-1).map((m) => Number(m[1])),
  );
  if (totals.length === 0) throw new Error("callgrind has written no counts");
  return Math.max(...totals);
}
