import { existsSync } from "node:fs";
import { mkdir, mkdtemp, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { execa } from "execa";
import { cacheFolder } from "../../cli/cache.js";

const MODULE = "github.com/envoyproxy/gateway";
const NAME = "envoy-gateway";

/** The version that is tested, without its `v`: the one whose extension service the descriptors are from. */
export async function envoyGatewayVersion(): Promise<string> {
  const requirements = await readFile(new URL("descriptors/go.mod", import.meta.url), "utf8");
  const [, version] = /^\s*github\.com\/envoyproxy\/gateway v(\S+)$/m.exec(requirements) ?? [];
  if (version === undefined) throw new Error(`no ${MODULE} in descriptors/go.mod`);
  return version;
}

/** The path of Envoy Gateway's binary: from the cache, else built into it, which takes minutes. */
export async function findEnvoyGateway(): Promise<string> {
  const version = await envoyGatewayVersion();
  const folder = cacheFolder(NAME, version);
  const binary = join(folder, NAME);
  if (existsSync(binary)) return binary;
  process.stderr.write(`attempt-router: building Envoy Gateway ${version} ...\n`);
  await mkdir(folder, { recursive: true });
  // Beside the target, so that the last step is a rename within one file system.
  const work = await mkdtemp(join(folder, ".build-"));
  try {
    await execa("go", ["install", `${MODULE}/cmd/${NAME}@v${version}`], { env: { GOBIN: work }, stderr: "inherit" });
    await rename(join(work, NAME), binary);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
  return binary;
}
