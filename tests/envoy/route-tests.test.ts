import { readdirSync } from "node:fs";
import { expect, test } from "vitest";
import { envoyVersions, findEnvoy } from "../../tools/envoy/binary.js";
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
