import { mkdtempSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { bootstrapOf } from "../check/examples.js";
import { run } from "../cli/support.js";

const SCENARIOS = new URL("../../envoy-config/", import.meta.url);
const folders = readdirSync(SCENARIOS, { withFileTypes: true }).filter((entry) => entry.isDirectory());

test.each(folders.map(({ name }) => name))("the tests of envoy-config/%s pass", async (name) => {
  const { code, stdout, stderr } = await run(["test", new URL(`${name}/routes.test.yaml`, SCENARIOS).pathname]);
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout).toMatch(/^TAP version 14\n1\.\.\d+\nok 1 - /);
});

test("routes are matched as native Envoy matched them", async () => {
  const { code, stdout } = await run(["test", new URL("matching/matching.test.yaml", import.meta.url).pathname]);
  expect([code, stdout.split("\n").filter((line) => /^( |not ok)/.test(line))]).toEqual([0, []]);
});

const folder = mkdtempSync(join(tmpdir(), "route-tests-"));
writeFileSync(join(folder, "native.yaml"), bootstrapOf({ groups: { one: ["a", 3, "b", 1], two: ["c"] } }));

/** Runs a file of tests over one config. */
function runTests(tests: string, ...options: string[]) {
  const file = join(folder, "routes.test.yaml");
  writeFileSync(file, `config: native.yaml\ntests:\n${tests}`);
  return run(["test", ...options, file]);
}

describe("a test fails where", () => {
  const failing = async (expected: string, rest = ""): Promise<string> => {
    const { code, stdout } = await runTests(
      `- {name: t, request: {path: /v1, random: 3}${rest}, expect: ${expected}}\n`,
    );
    expect(code).toBe(1);
    return stdout;
  };

  test.each([
    ["the route", "{route: x}", 'route: expected \\"x\\", found \\"\\"'],
    ["the virtual host", "{virtual_host: x}", 'virtual host: expected \\"x\\", found \\"v\\"'],
    ["the attempts", "{attempts: [a]}", 'attempts: expected [\\"a\\"], found [\\"b\\"]'],
    ["the status", "{status: 503}", "status: expected 503, found 200"],
    ["a share", "{first_attempt: {a: 0.8, b: 0.2}}", "first attempt: expected 0.8 of the requests on a, found 0.75"],
  ])("%s differs", async (_, expected, message) => {
    expect(await failing(expected)).toContain(message);
  });

  test("a tolerance that is wide enough lets it pass", async () => {
    const { code } = await runTests(
      "- {name: t, request: {path: /v1}, expect: {first_attempt: {a: 0.8, b: 0.2}, tolerance: 0.06}}\n",
    );
    expect(code).toBe(0);
  });
});

describe("results", () => {
  const TESTS =
    '- {name: "good & <#1>", request: {path: /v1}, expect: {status: 200}}\n- {name: bad, request: {path: /v1}, expect: {status: 201}}\n';

  test.each(["tap", "junit", "json"])("as %s", async (format) => {
    const { stdout } = await runTests(TESTS, "--format", format);
    expect(stdout.replaceAll(folder, "")).toMatchSnapshot();
  });
});

describe("what is wrong with a file is reported at its place", () => {
  test.each([
    ["- {name: t, request: {path: /}, expects: {}}\n", "expected one of the fields name, listener"],
    ["- {name: t, request: {path: /}, answers: {a: [99]}, expect: {}}\n", "expected a status, reset, timeout"],
    ["- {name: t, request: {method: GET}, expect: {}}\n", "expected the path of the request, found none"],
    ["- {request: {path: /}, expect: {}}\n", "expected a name, found none"],
    ["- {name: t, request: {path: /, random: -1}, expect: {}}\n", "expected an integer from 0"],
  ])("%s", async (tests, message) => {
    const { code, stdout, stderr } = await runTests(tests);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(/routes\.test\.yaml:3:\d+: /);
    expect(stderr).toContain(message);
  });
});
