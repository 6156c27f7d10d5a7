import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stringify } from "yaml";
import { expect, test } from "vitest";
import { envoyVersions, findEnvoy } from "../../tools/envoy/binary.js";
import { bootstrapOf } from "../check/examples.js";
import { run } from "../cli/support.js";

const SCENARIOS = new URL("../../envoy-config/", import.meta.url);
const folders = readdirSync(SCENARIOS, { withFileTypes: true }).filter((entry) => entry.isDirectory());
const { oracle } = await envoyVersions();

test.each(folders.map(({ name }) => name))("a real Envoy passes the tests of envoy-config/%s", async (name) => {
  const file = new URL(`${name}/routes.test.yaml`, SCENARIOS).pathname;
  const { code, stdout } = await run(["test", "--envoy", await findEnvoy(oracle), file]);
  expect([code, stdout.replace(/^ok .*\n/gm, "").replace(/^1\.\..*\n/m, "")]).toEqual([0, "TAP version 14\n"]);
});

test("and matches routes as the recorded statuses say", async () => {
  const file = new URL("../route-tests/matching/matching.test.yaml", import.meta.url).pathname;
  const { code, stdout } = await run(["test", "--envoy", await findEnvoy(oracle), file]);
  expect([code, stdout.split("\n").filter((line) => /^( |not ok)/.test(line))]).toEqual([0, []]);
});

test("keys need not be where the config says", async () => {
  const credential = [
    { file: "/no/key" },
    { secret: { name: "remote", sds_config: { path_config_source: { path: "/no/secret.yaml" } } } },
  ];
  const provided = credential.map((one) => ({
    metadata: { filter_metadata: { attempt_router: { provider: { credential: one } } } },
  }));
  const folder = mkdtempSync(join(tmpdir(), "attempt-router-keys-"));
  const tests = [{ name: "t", request: { path: "/v1" }, answers: { a: [503] }, expect: { attempts: ["a", "b"] } }];
  writeFileSync(join(folder, "native.yaml"), bootstrapOf({ clusters: { a: provided[0], b: provided[1] } }));
  writeFileSync(join(folder, "routes.test.yaml"), stringify({ config: "native.yaml", tests }));
  const { code, stdout } = await run(["test", "--envoy", await findEnvoy(oracle), join(folder, "routes.test.yaml")]);
  rmSync(folder, { recursive: true });
  expect([code, stdout]).toEqual([0, "TAP version 14\n1..1\nok 1 - t\n"]);
});

test("an Envoy that cannot be started is an error of the input", async () => {
  const file = new URL("cross-provider-fallback/routes.test.yaml", SCENARIOS).pathname;
  const { code, stdout, stderr } = await run(["test", "--envoy", "/no/envoy", file]);
  expect([code, stdout]).toEqual([1, ""]);
  expect(stderr).toMatch(/^error: Envoy does not start with the lowered config: .*ENOENT\n$/);
});
