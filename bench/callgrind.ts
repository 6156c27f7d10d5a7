// Instructions per request of a whole Envoy, counted by callgrind between two points of one run: neither the start nor the
// compilation of the first requests is in the figure, and it repeats within 0.2 % where times do not.

import { spawn, type ChildProcess } from "node:child_process";
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
  headers?: Record<string, string>;
  /** Requests before counting starts: lazily compiled code and caches have settled by then. */
  warmUp: number;
  requests: number;
}

const START_TIMEOUT_MS = 400_000;

/** Starts `binary` under callgrind and returns the instructions per request. Every response must be a 200. */
export async function instructionsPerRequest(binary: string, bootstrap: string, traffic: Traffic): Promise<number> {
  const directory = await mkdtemp(join(tmpdir(), "attempt-router-bench-"));
  await writeFile(join(directory, "envoy.yaml"), bootstrap);
  const process = start(binary, directory);
  const exited = once(process, "exit");
  try {
    const { port, pid } = await ready(process, directory);
    await send(port, traffic, traffic.warmUp);
    await execa("callgrind_control", ["-z", String(pid)]);
    await send(port, traffic, traffic.requests);
    await execa("callgrind_control", ["-d", String(pid)]);
    return (await counted(directory)) / traffic.requests;
  } finally {
    process.kill("SIGKILL");
    await exited;
    await rm(directory, { recursive: true, force: true });
  }
}

function start(binary: string, directory: string): ChildProcess {
  const valgrind = [
    "--tool=callgrind",
    "--smc-check=all-non-file",
    `--callgrind-out-file=${join(directory, "counts")}`,
  ];
  const envoy = ["-c", join(directory, "envoy.yaml"), "--admin-address-path", join(directory, "admin")];
  const quiet = ["--disable-hot-restart", "--concurrency", "1", "--log-level", "off"];
  return spawn("valgrind", [...valgrind, binary, ...envoy, ...quiet], { stdio: "ignore" });
}

async function ready(process: ChildProcess, directory: string): Promise<{ port: number; pid: number }> {
  const ended = () => process.exitCode !== null;
  const port = await waitFor(
    "Envoy under callgrind to be live",
    async () => {
      if (ended()) return -1;
      const admin = new Admin(await readFile(join(directory, "admin"), "utf8"));
      await admin.get("/ready");
      const { listener_statuses } = JSON.parse(await admin.get("/listeners?format=json")) as Listeners;
      return listener_statuses[0]?.local_address.socket_address.port_value;
    },
    START_TIMEOUT_MS,
  );
  if (port < 0 || process.pid === undefined) throw new Error("Envoy ended at start: does it accept the configuration?");
  return { port, pid: process.pid };
}

interface Listeners {
  listener_statuses: { local_address: { socket_address: { port_value: number } } }[];
}

async function send(port: number, { path, headers }: Traffic, count: number): Promise<void> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  for (let i = 0; i < count; i++) await sendOne({ agent, port, host: "127.0.0.1", path, headers });
  agent.destroy();
}

async function sendOne(options: http.RequestOptions): Promise<void> {
  const [response] = (await once(http.get(options), "response")) as [http.IncomingMessage];
  response.resume();
  await once(response, "end");
  if (response.statusCode !== 200) throw new Error(`status ${response.statusCode ?? 0} in the benchmark`);
}

// The dump of a thread's counters ends in `totals: N`.
async function counted(directory: string): Promise<number> {
  const dumps = (await readdir(directory)).filter((name) => /^counts\.\d+/.test(name));
  const texts = await Promise.all(dumps.map((name) => readFile(join(directory, name), "utf8")));
  const totals = texts.flatMap((text) =>
    [...text.matchAll(/^(?:totals|summary): (\d+)/gm)].slice(-1).map((m) => Number(m[1])),
  );
  if (totals.length === 0) throw new Error("callgrind has written no counts");
  return Math.max(...totals);
}
