// The module that checks settings, beside the path that Envoy will open.

import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { builtModulePath } from "../../cli/module-path.js";
import { fixtures, run } from "./support.js";

const NATIVE = fixtures("lower").find(({ name }) => name === "two-groups.yaml")?.text ?? "";
const WRONG = NATIVE.replace("weight: 1", "weight: heavy");
const FOR_ENVOY = "/etc/envoy/attempt-router.wasm";
let folder: string;
let own: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "attempt-router-check-wasm-"));
  own = join(folder, "own.wasm");
  copyFileSync(builtModulePath(), own);
});
afterAll(() => rmSync(folder, { recursive: true }));

test("it checks, and Envoy's path is written", async () => {
  const plain = await run(["lower", "-", "--wasm", FOR_ENVOY], NATIVE);
  const checked = await run(["compile", "-", "--wasm", FOR_ENVOY, "--check-wasm", own], NATIVE);
  expect([checked.code, checked.stdout]).toEqual([0, plain.stdout]);
  expect(checked.stdout).toContain(FOR_ENVOY);
  expect(checked.stdout).not.toContain(own);
});

test("errors name the module that found them, unless it is the built one", async () => {
  const byOwn = await run(["lower", "-", "--wasm", FOR_ENVOY, "--check-wasm", own], WRONG);
  const byBuilt = await run(["lower", "-", "--wasm", FOR_ENVOY], WRONG);
  expect([byOwn.code, byBuilt.code]).toEqual([1, 1]);
  expect(byOwn.stderr).toBe(byBuilt.stderr.replace(/\n$/, ` (checked by ${own})\n`));
  expect((await run(["lower", "-", "--wasm", own], WRONG)).stderr).toBe(byOwn.stderr);
});

describe("a file that is no such module is one line", () => {
  const EMPTY_MODULE = Buffer.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]);
  test.each([
    ["--wasm", "text", "another file: not a valid wasm module"],
    ["--check-wasm", "text", "another file: not a valid wasm module"],
    ["--check-wasm", EMPTY_MODULE, "another file: the module lacks proxy_abi_version_0_2_1"],
    ["--check-wasm", undefined, "no file"],
  ])("%s %s", async (option, content, reason) => {
    const file = join(folder, "other.wasm");
    rmSync(file, { force: true });
    if (content !== undefined) writeFileSync(file, content);
    const { code, stdout, stderr } = await run(["lower", "-", option, file], NATIVE);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr.split("\n")).toEqual([expect.stringContaining(`at ${file}, found ${reason}`), ""]);
  });
});
