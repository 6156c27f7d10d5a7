// The specifier that docs/writing-a-route-specifier.md builds, in a module of its own, on a real Envoy.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { afterAll, beforeAll, expect, test } from "vitest";
import { envoyVersions } from "../../tools/envoy/binary.js";
import { run } from "./specifier-runs.js";

const { versions } = await envoyVersions();
const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const CONFIG = {
  "@type": "type.googleapis.com/example.v1.TenantTable",
  header: "x-tenant",
  tenants: [
    { name: "acme", cluster: "other" },
    { name: "globex", cluster: "nowhere" },
  ],
};
let folder: string;
let wasm: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "attempt-router-example-"));
  wasm = join(folder, "tenant-table.wasm");
  const args = ["asc", "examples/tenant-table/index.ts", "--target", "release", "-o", wasm];
  await execa("npx", args, { cwd: ROOT });
});
afterAll(() => rm(folder, { recursive: true }));

test.each(versions)("Envoy %s sends each tenant to its cluster", async (version) => {
  const requests = ["acme", "initech", "globex"].map((tenant) => ({ path: "/api", headers: { "x-tenant": tenant } }));
  const levels = { host: [{ name: "tenants", typed_config: CONFIG }] };
  const [acme, unknown, missing] = await run(version, levels, requests, {}, { wasm });
  expect([acme?.served, unknown?.served, missing?.flags]).toEqual(["other", "api", "NC"]);
});

test("lower checks its settings with the module that it is in", async () => {
  const wrong = { ...CONFIG, tenants: [{ name: "acme" }] };
  const levels = { host: [{ name: "tenants", typed_config: wrong }] };
  await expect(run(versions[0] ?? "", levels, [{}], {}, { wasm })).rejects.toThrow(/tenants\[0\]\.cluster: expected/);
});
