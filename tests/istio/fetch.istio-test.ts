import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { afterAll, beforeAll, expect, test } from "vitest";
import packageJson from "../../package.json" with { type: "json" };
import { Registry } from "../image/registry.js";
import { WASM } from "../support/lowering.js";

const SOURCES = fileURLToPath(new URL("tools/", import.meta.url));
const BUILT = fileURLToPath(new URL("../../build/", import.meta.url));
const MANIFESTS = fileURLToPath(new URL("../../docs/control-planes/manifests/", import.meta.url));
const { version } = packageJson;

let registry: Registry;
let scratch: string;
beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), "attempt-router-istio-"));
  await execa("go", ["build", "-o", `${scratch}/`, "./..."], { cwd: SOURCES });
  registry = await Registry.start();
});
afterAll(async () => {
  await registry.stop();
  await rm(scratch, { recursive: true, force: true });
});

test.each(["image", "artifact"])("the fetcher of Istio's agent finds the module in the %s", async (form) => {
  await registry.push(`${BUILT}${form}:${version}`, `${form}:${version}`);
  const file = join(scratch, `${form}.wasm`);
  await execa(join(scratch, "fetcher"), [`${registry.host}/${form}:${version}`, file]);
  expect(readFileSync(file).equals(readFileSync(WASM))).toBe(true);
});

test.each(readdirSync(MANIFESTS))("the types of Istio and Envoy Gateway take %s", async (name) => {
  const input = readFileSync(MANIFESTS + name, "utf8");
  await execa(join(scratch, "checker"), [], { input });
  const field = input.replace(/^spec:/m, "spec:\n  unknownField: 1");
  expect((await execa(join(scratch, "checker"), [], { input: field, reject: false })).failed).toBe(true);
});
