import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { afterAll, beforeAll, expect, test } from "vitest";
import packageJson from "../../package.json" with { type: "json" };
import { builtHoldModulePath } from "../../cli/module-path.js";
import { envoyVersions } from "../../tools/envoy/binary.js";
import { HOLD, labels, MAIN } from "../../tools/image/images.js";
import { WASM } from "../support/lowering.js";
import { expectModuleServes } from "./serves.js";
import { Layout } from "./read-layout.js";
import { Registry } from "./registry.js";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const BUILT = join(ROOT, "build");
const { version } = packageJson;
const { oracle, versions } = await envoyVersions();
const module = readFileSync(WASM);

let registry: Registry;
let scratch: string;
beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), "attempt-router-pull-"));
  registry = await Registry.start();
});
afterAll(async () => {
  await registry.stop();
  await rm(scratch, { recursive: true, force: true });
});

async function pulled(layout: string, name: string): Promise<Layout> {
  await registry.push(layout, name);
  const folder = join(scratch, name.replace(":", "-"));
  await registry.pull(name, folder);
  return new Layout(folder);
}

/** Runs buildah without privileges that a container lacks, and with its storage in `scratch`. */
async function buildah(...args: string[]): Promise<void> {
  const storage = ["--storage-driver", "vfs", "--root", join(scratch, "root"), "--runroot", join(scratch, "runroot")];
  await execa("buildah", [...storage, ...args], { cwd: ROOT });
}

/** Builds the Dockerfile into an OCI layout. */
async function build(tag: string, target?: string): Promise<string> {
  const values = { VERSION: version, ENVOY_VERSIONS: versions.join(",") };
  const flags = Object.entries(values).flatMap(([name, value]) => ["--build-arg", `${name}=${value}`]);
  if (target !== undefined) flags.push("--target", target);
  await buildah("bud", "--isolation", "chroot", "--no-cache", "--timestamp", "0", ...flags, "--tag", tag, ".");
  const folder = join(scratch, `built-${tag}`);
  await buildah("push", tag, `oci:${folder}:${version}`);
  return folder;
}

async function expectModule(bytes: Buffer): Promise<void> {
  expect(bytes.equals(module)).toBe(true);
  const file = join(scratch, "pulled.wasm");
  await writeFile(file, bytes);
  await expectModuleServes(oracle, file);
}

test("the container image comes back from a registry, and Envoy serves with its module", async () => {
  const layout = await pulled(`${BUILT}/image:${version}`, `image:${version}`);
  expect(layout.digest).toBe(new Layout(`${BUILT}/image`).digest);
  await expectModule(layout.files().module);
});

test("the Wasm artifact comes back from a registry, and Envoy serves with its module", async () => {
  const layout = await pulled(`${BUILT}/artifact:${version}`, `artifact:${version}`);
  expect(layout.digest).toBe(new Layout(`${BUILT}/artifact`).digest);
  await expectModule(layout.layer("application/vnd.module.wasm.content.layer.v1+wasm"));
});

test("the module that holds answers comes back from a registry in both forms", async () => {
  const built = readFileSync(builtHoldModulePath());
  const image = await pulled(`${BUILT}/hold-image:${version}`, `hold-image:${version}`);
  expect(image.files().module.equals(built)).toBe(true);
  const config = image.json(image.manifest.config) as { config: { Labels: Record<string, string> } };
  expect(config.config.Labels).toEqual(await labels(HOLD));
  const artifact = await pulled(`${BUILT}/hold-artifact:${version}`, `hold-artifact:${version}`);
  expect(artifact.layer("application/vnd.module.wasm.content.layer.v1+wasm").equals(built)).toBe(true);
});

test("the Dockerfile's target hold has the module that holds answers", async () => {
  const layout = new Layout(await build("hold", "hold"));
  expect(layout.files().module.equals(readFileSync(builtHoldModulePath()))).toBe(true);
});

test("the Dockerfile builds an image of one layer with the module at its root, twice with the same digest", async () => {
  const folder = await build("first");
  expect(new Layout(await build("second")).digest).toBe(new Layout(folder).digest);
  const layout = await pulled(`${folder}:${version}`, `dockerfile:${version}`);
  expect(layout.manifest.layers).toHaveLength(1);
  const config = layout.json(layout.manifest.config) as { config: { Labels: Record<string, string> } };
  expect(config.config.Labels).toMatchObject(await labels(MAIN));
  const { names, module: found } = layout.files();
  expect(names).toEqual(["plugin.wasm"]);
  await expectModule(found);
});
