import { expect, test } from "vitest";
import { envoyVersions, findEnvoy } from "../../tools/envoy/binary.js";
import { bootstrapOf } from "../check/examples.js";
import { run } from "../cli/support.js";

const check = async (text: string) => run(["check", "--envoy", await binary(), "-"], text);
const binary = async (): Promise<string> => findEnvoy((await envoyVersions()).oracle);

test("a good file passes Envoy, native and lowered", async () => {
  expect(await check(bootstrapOf({}))).toEqual({ code: 0, stdout: "", stderr: "" });
});

test("what Envoy refuses is reported once, at the line that has the word it names", async () => {
  const text = bootstrapOf({ manager: { stat_prefixx: "in" } });
  const { code, stdout } = await check(text);
  expect(code).toBe(1);
  const line = text.split("\n").findIndex((one) => one.includes("stat_prefixx")) + 1;
  expect(stdout.split("\n").filter((one) => one.includes("[refused-by-envoy]"))).toHaveLength(1);
  expect(stdout).toMatch(
    new RegExp(`^<stdin>:${line}:\\d+: error: Envoy refuses this file: .*no such field: 'stat_prefixx'`),
  );
});

test("what lower refuses is reported beside it", async () => {
  const { stdout } = await check(bootstrapOf({ groups: { one: ["a"], two: ["nope"] } }));
  expect(stdout).toContain("[unknown-cluster]");
  expect(stdout).toContain("[refused-by-envoy]");
  expect(stdout).toContain("[refused-by-lower]");
});
