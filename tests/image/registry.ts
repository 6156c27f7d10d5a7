import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execa, type ResultPromise } from "execa";
import { stringify } from "yaml";
import { waitFor } from "../../tools/wait.js";

/** A container registry (Debian's docker-registry) on the loopback interface, with its storage in a temporary folder. */
export class Registry {
  #log = "";

  private constructor(
    readonly folder: string,
    private readonly process: ResultPromise<{ buffer: false; all: true }>,
  ) {
    process.all.on("data", (chunk: Buffer) => (this.#log += chunk.toString()));
    process.catch(() => undefined);
  }

  static async start(): Promise<Registry> {
    const folder = await mkdtemp(join(tmpdir(), "attempt-router-registry-"));
    const config = join(folder, "config.yml");
    const storage = { filesystem: { rootdirectory: join(folder, "storage") } };
    await writeFile(config, stringify({ version: 0.1, storage, http: { addr: "127.0.0.1:0" } }));
    const registry = new Registry(folder, execa("docker-registry", ["serve", config], { buffer: false, all: true }));
    await waitFor("the registry to listen", () => registry.#port() !== undefined);
    return registry;
  }

  /** `127.0.0.1:PORT`, as in image references. */
  get host(): string {
    return `127.0.0.1:${this.#port() ?? ""}`;
  }

  /** Copies an image of an OCI layout into the registry. */
  async push(layout: string, name: string): Promise<void> {
    await execa("skopeo", ["copy", "--dest-tls-verify=false", `oci:${layout}`, `docker://${this.host}/${name}`]);
  }

  /** Copies an image out of the registry, into an OCI layout. */
  async pull(name: string, layout: string): Promise<void> {
    await execa("skopeo", ["copy", "--src-tls-verify=false", `docker://${this.host}/${name}`, `oci:${layout}:pulled`]);
  }

  async stop(): Promise<void> {
    this.process.kill();
    await this.process.catch(() => undefined);
    await rm(this.folder, { recursive: true, force: true });
  }

  #port(): string | undefined {
    return /listening on 127\.0\.0\.1:(\d+)/.exec(this.#log)?.[1];
  }
}
