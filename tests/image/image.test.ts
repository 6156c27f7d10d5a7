import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { afterAll, describe, expect, test } from "vitest";
import packageJson from "../../package.json" with { type: "json" };
import { envoyVersions } from "../../tools/envoy/binary.js";
import { artifactImage, containerImage, HOLD, labels, MAIN, type Module } from "../../tools/image/images.js";
import { writeLayout } from "../../tools/image/layout.js";
import { gzipStored, tarOf } from "../../tools/image/tar.js";
import { builtHoldModulePath } from "../../cli/module-path.js";
import { WASM } from "../support/lowering.js";
import { Layout } from "./read-layout.js";

const scratch = mkdtempSync(join(tmpdir(), "attempt-router-image-"));
afterAll(() => rmSync(scratch, { recursive: true }));
const MODULES: [Module, string][] = [
  [MAIN, WASM],
  [HOLD, builtHoldModulePath()],
];

async function written(make: typeof containerImage, module: Module, wasm: string): Promise<Layout> {
  const folder = mkdtempSync(join(scratch, "layout-"));
  const digest = await writeLayout(folder, await make(wasm, module), "tag");
  const layout = new Layout(folder);
  expect(layout.digest).toBe(digest);
  return layout;
}

test.each([containerImage, artifactImage])(
  "%o has the same digest every time, and another for another module",
  async (make) => {
    const { digest } = await written(make, MAIN, WASM);
    expect((await written(make, MAIN, WASM)).digest).toBe(digest);
    const other = join(scratch, "other.wasm");
    writeFileSync(other, Buffer.concat([readFileSync(WASM), Buffer.from([0])]));
    expect((await written(make, MAIN, other)).digest).not.toBe(digest);
  },
);

test.each(MODULES)(
  "the container image of $name has one layer with plugin.wasm at its root, and labels",
  async (module, wasm) => {
    const layout = await written(containerImage, module, wasm);
    expect(layout.manifest.layers).toHaveLength(1);
    const files = layout.files();
    expect(files.names).toEqual(["plugin.wasm"]);
    expect(files.module.equals(readFileSync(wasm))).toBe(true);
    const config = layout.json(layout.manifest.config) as { config: { Labels: unknown } };
    expect(config.config.Labels).toEqual(await labels(module));
  },
);

test.each(MODULES)("the artifact of $name has the module and its runtime config as layers", async (module, wasm) => {
  const layout = await written(artifactImage, module, wasm);
  const types = ["application/vnd.module.wasm.content.layer.v1+wasm", "application/vnd.module.wasm.config.v1+json"];
  expect(layout.manifest.layers.map(({ mediaType }) => mediaType)).toEqual(types);
  expect(layout.manifest.config.mediaType).toBe(types[1]);
  expect(layout.layer(types[0] ?? "").equals(readFileSync(wasm))).toBe(true);
  expect(layout.manifest.annotations).toMatchObject(await labels(module));
});

test("labels name source, version, licence and the Envoy versions that are tested", async () => {
  expect(await labels(MAIN)).toMatchObject({
    "org.opencontainers.image.version": packageJson.version,
    "org.opencontainers.image.licenses": "Apache-2.0",
    "org.opencontainers.image.source": "https://github.com/attempt-router/attempt-router",
    "attempt-router.envoy-versions": (await envoyVersions()).versions.join(","),
  });
});

test("the Dockerfile has the same labels for both, and each has its own file", async () => {
  const { versions } = await envoyVersions();
  const text = readFileSync(fileURLToPath(new URL("../../Dockerfile", import.meta.url)), "utf8")
    .replaceAll("$VERSION", packageJson.version)
    .replaceAll("$ENVOY_VERSIONS", versions.join(","));
  const ignored = readFileSync(fileURLToPath(new URL("../../.dockerignore", import.meta.url)), "utf8").split("\n");
  const stages = text.split(/^FROM /m).slice(1);
  for (const module of [MAIN, HOLD]) {
    const stage = stages.find((one) => one.startsWith("scratch AS hold") === (module === HOLD)) ?? "";
    const found = [...stage.matchAll(/([\w.-]+)="([^"]*)"/g)].map(([, name, value]) => [name, value]);
    expect(Object.fromEntries(found)).toEqual(await labels(module));
    expect(stage).toContain(`COPY build/${module.name}.wasm /plugin.wasm`);
    expect(ignored).toContain(`!build/${module.name}.wasm`);
  }
  // What is built without a target is the last stage.
  expect(stages.at(-1)).not.toContain("AS hold");
});

describe("a gzip file", () => {
  test.each([0, 1, 65_535, 65_536, 200_000])("of %i bytes holds them", (size) => {
    const data = Buffer.alloc(size, "attempt");
    expect(gunzipSync(gzipStored(data)).equals(data)).toBe(true);
  });
});

test("a tar file is a whole number of blocks", () => {
  for (const size of [0, 1, 511, 512, 513]) expect(tarOf("plugin.wasm", Buffer.alloc(size)).length % 512).toBe(0);
});
