import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { execa, type ResultPromise } from "execa";
import { stringify } from "yaml";
import { envoyVersions, findEnvoy } from "../../tools/envoy/binary.js";
import { findEnvoyGateway } from "../../tools/envoy-gateway/binary.js";

/** A resource of Kubernetes, or a part of one. */
export type Manifest = Record<string, unknown>;

/**
 * A real Envoy Gateway without Kubernetes: it reads resources from files, and runs its proxies on this machine. Only one runs
 * at a time, since its ports are its own.
 */
export class EnvoyGateway {
  #log = "";

  private constructor(
    readonly folder: string,
    private readonly process: ResultPromise<{ buffer: false; all: true }>,
  ) {
    process.all.on("data", (chunk: Buffer) => (this.#log += chunk.toString()));
    process.catch(() => undefined);
  }

  /**
   * @param resources may depend on the folder of this Envoy Gateway, which has its certificates below `config/certs`.
   * @param extensions `extensionManager` or `extensionManagers` of its configuration.
   */
  static async start(
    resources: (folder: string) => readonly Manifest[],
    extensions: Manifest = {},
  ): Promise<EnvoyGateway> {
    const folder = await mkdtemp(join(tmpdir(), "attempt-router-gateway-"));
    const binary = await findEnvoyGateway();
    await mkdir(join(folder, "resources"));
    await writeResources(folder, resources(folder));
    for (const version of (await envoyVersions()).versions) {
      const bin = join(folder, "data", "envoy-versions", version, "bin");
      await mkdir(bin, { recursive: true });
      await symlink(await findEnvoy(version), join(bin, "envoy"));
    }
    const config = join(folder, "gateway.yaml");
    await writeFile(config, stringify({ ...configuration(folder), ...extensions }));
    await execa(binary, ["certgen", "--local", "--config-home", join(folder, "config")]);
    return new EnvoyGateway(folder, execa(binary, ["server", "--config-path", config], { buffer: false, all: true }));
  }

  /** Replaces all resources at once. */
  apply(resources: readonly Manifest[]): Promise<void> {
    return writeResources(this.folder, resources);
  }

  get log(): string {
    return this.#log;
  }

  async stop(): Promise<void> {
    this.process.kill();
    await this.process.catch(() => undefined);
    await rm(this.folder, { recursive: true, force: true });
  }
}

/** By a rename: Envoy Gateway takes half a file for all that there is. */
async function writeResources(folder: string, resources: readonly Manifest[]): Promise<void> {
  const text = resources.map((one) => stringify(one, { aliasDuplicateObjects: false })).join("---\n");
  const file = join(folder, "resources", "all.yaml");
  if (existsSync(file) && (await readFile(file, "utf8")) === text) return;
  await writeFile(join(folder, "next.yaml"), text);
  await rename(join(folder, "next.yaml"), file);
}

function configuration(folder: string): Manifest {
  const at = (name: string): string => join(folder, name);
  const host = { configHome: at("config"), dataHome: at("data"), stateHome: at("state"), runtimeDir: at("run") };
  const custom = {
    resource: { type: "File", file: { paths: [at("resources")] } },
    infrastructure: { type: "Host", host },
  };
  return {
    apiVersion: "gateway.envoyproxy.io/v1alpha1",
    kind: "EnvoyGateway",
    gateway: { controllerName: CONTROLLER },
    provider: { type: "Custom", custom },
    extensionApis: { enableBackend: true, enableEnvoyPatchPolicy: true },
  };
}

export const CONTROLLER = "gateway.envoyproxy.io/gatewayclass-controller";
