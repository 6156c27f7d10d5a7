import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { execa, type ResultPromise } from "execa";
import { waitFor } from "../../tools/wait.js";

/** Envoy's answer to a discovery response: it took the version, or refused it with an error. */
export interface Answer {
  type: string;
  version: string;
  error?: string;
}

const SOURCES = fileURLToPath(new URL("server/", import.meta.url));

/** The Go control plane of tests/xds/server, built once per instance. */
export class ControlPlane {
  readonly answers: Answer[] = [];
  port = 0;

  private constructor(
    private readonly directory: string,
    private readonly process: ResultPromise<{ stdin: "pipe"; stderr: "inherit"; buffer: false }>,
  ) {
    createInterface({ input: process.stdout }).on("line", (line) => {
      const message = JSON.parse(line) as Answer | { port: number };
      if ("port" in message) this.port = message.port;
      else this.answers.push(message);
    });
    process.catch(() => undefined);
  }

  static async start(): Promise<ControlPlane> {
    const directory = await mkdtemp(join(tmpdir(), "attempt-router-xds-"));
    const binary = join(directory, "server");
    await execa("go", ["build", "-o", binary, "."], { cwd: SOURCES });
    const server = execa(binary, { stdin: "pipe", stderr: "inherit", buffer: false });
    const plane = new ControlPlane(directory, server);
    await waitFor("the control plane to listen", () => plane.port > 0);
    return plane;
  }

  /** Serves these resources (each with its @type) as one snapshot from now on. */
  serve(resources: readonly unknown[]): void {
    this.process.stdin.write(`${JSON.stringify({ resources })}\n`);
  }

  get refusals(): Answer[] {
    return this.answers.filter(({ error }) => error !== undefined);
  }

  async stop(): Promise<void> {
    this.process.stdin.end();
    await this.process.catch(() => undefined);
    await rm(this.directory, { recursive: true, force: true });
  }
}
