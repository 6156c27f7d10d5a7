import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { execa, type ResultPromise } from "execa";
import { waitFor } from "../../tools/wait.js";

const COMMAND = fileURLToPath(new URL("../../build/cli/main.js", import.meta.url));
const HTTP = "127.0.0.1:9100";

/** `attempt-router serve` as a process that can be ended and started again. */
export class ServeProcess {
  readonly log: { event: string; [field: string]: unknown }[] = [];
  private process: ResultPromise<{ buffer: false }> | undefined;

  private constructor(
    private readonly folder: string,
    private readonly options: readonly string[],
  ) {}

  static async start(options: readonly string[] = ["--module-url", `http://${HTTP}`]): Promise<ServeProcess> {
    const server = new ServeProcess(await mkdtemp(join(tmpdir(), "attempt-router-serve-")), options);
    await server.start();
    return server;
  }

  /** `HOST:PORT` where it serves the module. */
  get http(): string {
    return HTTP;
  }

  /** The socket, as Envoy Gateway's configuration names it. */
  get service(): { unix: { path: string } } {
    return { unix: { path: join(this.folder, "extension.sock") } };
  }

  async start(): Promise<void> {
    const listen = `unix:${this.service.unix.path}`;
    const args = [COMMAND, "serve", "--listen", listen, "--http", HTTP, ...this.options];
    const started = execa(process.execPath, args, { buffer: false });
    started.catch(() => undefined);
    createInterface({ input: started.stderr }).on("line", (line) =>
      this.log.push(JSON.parse(line) as { event: string }),
    );
    const before = this.count("Started");
    await waitFor("the server to start", () => this.count("Started") > before);
    this.process = started;
  }

  /** Ends the process; resolves to its exit code, which is undefined where a signal ended it. */
  async end(signal: "SIGTERM" | "SIGKILL"): Promise<number | undefined> {
    this.process?.kill(signal);
    const ended = await this.process?.catch((error: unknown) => error as { exitCode?: number });
    return ended?.exitCode;
  }

  /** A metric's value by its name with labels. */
  async metric(name: string): Promise<number> {
    const text = await (await fetch(`http://${HTTP}/metrics`)).text();
    const line = text.split("\n").find((one) => one.startsWith(`${name} `));
    return Number(line?.slice(name.length));
  }

  async stop(): Promise<void> {
    await this.end("SIGTERM");
    await rm(this.folder, { recursive: true, force: true });
  }

  private count(event: string): number {
    return this.log.filter((line) => line.event === event).length;
  }
}
