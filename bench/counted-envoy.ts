// An Envoy under callgrind that counts only when asked to: what is before and between runs at nearly full speed, so one start
// serves many points.

import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execa } from "execa";
import { Admin } from "../tools/envoy/admin.js";
import { waitFor } from "../tools/wait.js";

/** Envoy under callgrind is slow to start. */
export const START_TIMEOUT_MS = 400_000;

/** Instructions of one stretch of time. With one worker, that is the thread that does the most beside the main thread. */
export interface Counts {
  main: number;
  worker: number;
}

/** An Envoy with one worker under callgrind. */
export class CountedEnvoy {
  private readonly ports = new Map<string, number>();
  private adminInterface = new Admin("");

  private constructor(
    private readonly directory: string,
    private readonly process: ReturnType<typeof startEnvoy>,
  ) {}

  /** Starts `binary` with a bootstrap in YAML or JSON, and waits until it is live and its listeners are bound. */
  static async start(binary: string, bootstrap: string): Promise<CountedEnvoy> {
    const directory = await mkdtemp(join(tmpdir(), "attempt-router-bench-"));
    // Envoy reads JSON much faster where the name says that it is.
    const file = join(directory, bootstrap.startsWith("{") ? "envoy.json" : "envoy.yaml");
    await writeFile(file, bootstrap);
    const envoy = new CountedEnvoy(directory, startEnvoy(binary, directory, file));
    try {
      await waitFor("Envoy under callgrind to be live", () => envoy.isLive(), START_TIMEOUT_MS);
      if (envoy.hasEnded) throw new Error("Envoy ended at start: does it accept the configuration?");
      return envoy;
    } catch (error) {
      await envoy.stop();
      throw error;
    }
  }

  get admin(): Admin {
    return this.adminInterface;
  }

  /** The port of the listener `name`. */
  port(name: string): number {
    const port = this.ports.get(name);
    if (port === undefined) throw new Error(`no listener named ${name}`);
    return port;
  }

  /**
   * The instructions between the start and the end of `action`.
   * @param settle comes before, with the instrumentation on already.
   */
  async count(action: () => Promise<void>, settle?: () => Promise<void>): Promise<Counts> {
    await this.control("-i", "on");
    await settle?.();
    await this.control("-z");
    await action();
    await this.control("-d");
    await this.control("-i", "off");
    return await this.takeCounts();
  }

  async stop(): Promise<void> {
    this.process.kill("SIGKILL");
    await this.process;
    await rm(this.directory, { recursive: true, force: true });
  }

  private get hasEnded(): boolean {
    return this.process.exitCode !== null || this.process.signalCode !== null;
  }

  private async control(...command: string[]): Promise<void> {
    await execa("callgrind_control", [...command, String(this.process.pid)]);
  }

  private async isLive(): Promise<boolean> {
    if (this.hasEnded) return true;
    this.adminInterface = new Admin(await readFile(join(this.directory, "admin"), "utf8"));
    await this.admin.get("/ready");
    const { listener_statuses } = JSON.parse(await this.admin.get("/listeners?format=json")) as ListenerStatuses;
    for (const { name, local_address } of listener_statuses ?? []) {
      if (local_address.socket_address) this.ports.set(name, local_address.socket_address.port_value);
    }
    return true;
  }

  // A dump is a file for each thread, with a line `thread: N` and, at its end, `totals: N`.
  private async takeCounts(): Promise<Counts> {
    const dumps = (await readdir(this.directory)).filter((name) => /^counts\.\d+-\d+$/.test(name));
    const counts = { main: 0, worker: 0 };
    for (const name of dumps) {
      const text = await readFile(join(this.directory, name), "utf8");
      const total = Number(/^totals: (\d+)/m.exec(text)?.[1] ?? 0);
      if (/^thread: 1$/m.test(text)) counts.main = total;
      else counts.worker = Math.max(counts.worker, total);
      await rm(join(this.directory, name));
    }
    if (counts.worker === 0) throw new Error("callgrind has written no counts");
    return counts;
  }
}

interface ListenerStatuses {
  listener_statuses?: { name: string; local_address: { socket_address?: { port_value: number } } }[];
}

// Ends when this process does, however that is.
function startEnvoy(binary: string, directory: string, file: string) {
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
  const envoy = [
    ...["-c", file, "--admin-address-path", join(directory, "admin")],
    ...["--disable-hot-restart", "--concurrency", "1", "--log-level", "off"],
  ];
  return execa("valgrind", [...valgrind, binary, ...envoy], { stdio: "ignore", reject: false });
}
