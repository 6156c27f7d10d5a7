import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findEnvoy } from "./binary.js";
import { Admin } from "./admin.js";
import { waitFor } from "../wait.js";

/** For a bootstrap: an address whose port the system chooses. */
export const ANY_PORT = { socket_address: { address: "127.0.0.1", port_value: 0 } };

/** In a bootstrap's text: the temporary directory of that Envoy. */
export const DIRECTORY = "{{directory}}";

const START_TIMEOUT_MS = 20_000;
const STOP_TIMEOUT_MS = 10_000;

// The shell ends Envoy when standard input closes, which happens however this process dies; unless it was told to
// stop, nobody is left to remove the directory ($1) then.
const SUPERVISED = [
  "exec 3<&0; directory=$1; shift",
  '"$0" "$@" </dev/null & child=$!',
  '(said=$(cat <&3); kill $child; [ "$said" = stop ] || rm -rf "$directory") 2>/dev/null &',
  "wait $child",
].join("\n");

/** Envoy refused its configuration or ended before it was ready. The message holds what it logged. */
export class EnvoyStartError extends Error {
  /** Whether Envoy says that its configuration is wrong; else it crashed, or was not ready in time. */
  get refused(): boolean {
    return /\[critical\].* initializing config /s.test(this.message);
  }
}

/** A running Envoy whose bootstrap has an `admin.address`; give every address port 0 and ask for the real ones here. */
export class EnvoyProcess {
  readonly #listeners = new Map<string, number>();
  readonly #exited: Promise<unknown>;
  #admin = new Admin("");
  #log = "";

  private constructor(
    readonly version: string,
    readonly directory: string,
    readonly child: ChildProcess,
  ) {
    child.stdout?.on("data", (chunk: Buffer) => (this.#log += chunk.toString()));
    child.stderr?.on("data", (chunk: Buffer) => (this.#log += chunk.toString()));
    this.#exited = once(child, "exit");
    child.stdin?.on("error", () => undefined);
  }

  /**
   * Starts Envoy `version` with `bootstrap` (YAML text, which may name DIRECTORY) and waits until it is live and its
   * listeners are bound. `args` are added to the command line, `env` to the environment.
   * @throws EnvoyStartError
   */
  static async start(
    version: string,
    bootstrap: string,
    args: string[] = [],
    env: NodeJS.ProcessEnv = {},
  ): Promise<EnvoyProcess> {
    const binary = await findEnvoy(version);
    const directory = await mkdtemp(join(tmpdir(), "attempt-router-envoy-"));
    const config = join(directory, "envoy.yaml");
    await writeFile(config, bootstrap.replaceAll(DIRECTORY, directory));
    const workers = args.includes("--concurrency") ? [] : ["--concurrency", "1"];
    const all = [
      "-c",
      config,
      "--admin-address-path",
      join(directory, "admin"),
      ...DEFAULT_ARGUMENTS,
      ...workers,
      ...args,
    ];
    // A process group of its own: a Ctrl-C goes to this process alone, and the group can be killed as one.
    const child = spawn("sh", ["-c", SUPERVISED, binary, directory, ...all], {
      detached: true,
      stdio: "pipe",
      env: { ...process.env, ...env },
    });
    const envoy = new EnvoyProcess(version, directory, child);
    try {
      const state = await waitFor("it to be live", () => envoy.#state(), START_TIMEOUT_MS);
      if (state === "ended") throw new Error("it ended at start");
      return envoy;
    } catch (error) {
      await envoy.stop();
      throw new EnvoyStartError(`Envoy ${version}: ${(error as Error).message}\n${envoy.log}`, { cause: error });
    }
  }

  /** Everything Envoy has written to its log so far. */
  get log(): string {
    return this.#log;
  }

  get admin(): Admin {
    return this.#admin;
  }

  /** The port of the listener `name`. */
  port(name: string): number {
    const port = this.#listeners.get(name);
    if (port === undefined) throw new Error(`no listener named ${name}`);
    return port;
  }

  /**
   * Ends Envoy in an orderly way, so that its access logs are complete, and removes its temporary directory.
   * @param last runs in between, with the path of that directory.
   */
  async stop<T>(last?: (directory: string) => Promise<T>): Promise<T | undefined> {
    this.child.stdin?.end("stop");
    const timer = setTimeout(() => process.kill(-(this.child.pid ?? 0), "SIGKILL"), STOP_TIMEOUT_MS);
    await this.#exited;
    clearTimeout(timer);
    try {
      return await last?.(this.directory);
    } finally {
      await rm(this.directory, { recursive: true, force: true });
    }
  }

  async #state(): Promise<"ended" | "live"> {
    if (this.child.exitCode !== null) return "ended";
    this.#admin = new Admin(await readFile(join(this.directory, "admin"), "utf8"));
    await this.#admin.get("/ready");
    const { listener_statuses } = JSON.parse(await this.#admin.get("/listeners?format=json")) as ListenerStatuses;
    for (const { name, local_address } of listener_statuses ?? []) {
      if (local_address.socket_address) this.#listeners.set(name, local_address.socket_address.port_value);
    }
    return "live";
  }
}

const DEFAULT_ARGUMENTS = [
  ...["--disable-hot-restart", "--file-flush-interval-msec", "20"],
  ...["--log-level", process.env["ENVOY_LOG_LEVEL"] ?? "warning", "--component-log-level", "main:error,wasm:info"],
];

interface ListenerStatuses {
  listener_statuses?: { name: string; local_address: { socket_address?: { port_value: number } } }[];
}
