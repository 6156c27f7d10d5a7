import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A file of resources that Envoy watches, as it would a discovery service. */
export class ResourceFile {
  readonly #directory = mkdtempSync(join(tmpdir(), "attempt-router-resources-"));
  readonly #file = join(this.#directory, "resources.yaml");

  /** The file as an `envoy.config.core.v3.ConfigSource`. */
  get source(): Record<string, unknown> {
    const path_config_source = { path: this.#file, watched_directory: { path: this.#directory } };
    return { resource_api_version: "V3", path_config_source };
  }

  /** Replaces the file as a whole, which is what Envoy watches for. */
  write(text: string): void {
    writeFileSync(`${this.#file}.new`, text);
    renameSync(`${this.#file}.new`, this.#file);
  }

  remove(): void {
    rmSync(this.#directory, { recursive: true });
  }
}
