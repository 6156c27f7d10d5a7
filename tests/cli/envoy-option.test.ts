import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { bootstrapOf } from "../check/examples.js";
import { run } from "./support.js";

let folder: string;

/** A stand-in that refuses every config with its own name. */
async function envoyAt(...names: string[]): Promise<string> {
  const path = join(folder, ...names, "envoy");
  await mkdir(join(path, ".."), { recursive: true });
  await writeFile(
    path,
    `#!/bin/sh\necho "error initializing configuration 'x': from ${names.join("/")}" >&2\nexit 1\n`,
  );
  await chmod(path, 0o755);
  return path;
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "attempt-router-envoy-"));
  await writeFile(join(folder, "native.yaml"), bootstrapOf({}));
  vi.stubEnv("PATH", join(folder, "path"));
  vi.stubEnv("XDG_CACHE_HOME", join(folder, "cache"));
  vi.stubEnv("ATTEMPT_ROUTER_ENVOY", "");
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true, force: true });
});

const CACHE = ["cache", "attempt-router", "envoy"];
const input = (): string => join(folder, "native.yaml");

test("--envoy without a path takes the one of the environment, of the PATH, the newest of the cache, and says which", async () => {
  for (const version of ["1.9.0", "1.40.0", "1.39.3", "broken"]) await envoyAt(...CACHE, version);
  const cached = await run(["check", input(), "--envoy"]);
  expect([cached.code, cached.stderr]).toEqual([
    1,
    `note: the Envoy is ${join(folder, ...CACHE)}/1.40.0/envoy, from the cache of attempt-router\n`,
  ]);
  expect(cached.stdout).toContain("from cache/attempt-router/envoy/1.40.0");
  const path = await envoyAt("path");
  expect((await run(["check", input(), "--envoy"])).stderr).toBe(`note: the Envoy is ${path}, from PATH\n`);
  vi.stubEnv("ATTEMPT_ROUTER_ENVOY", await envoyAt("named"));
  const named = await run(["check", input(), "--envoy"]);
  expect([named.stdout.includes("from named"), named.stderr]).toEqual([
    true,
    `note: the Envoy is ${folder}/named/envoy, from ATTEMPT_ROUTER_ENVOY\n`,
  ]);
});

test.each([
  ["check", "native.yaml"],
  ["check", "-"],
  ["test", "native.test.yaml"],
])("%s --envoy %s: what has a config's name is no Envoy", async (command, file) => {
  const path = await envoyAt("path");
  await writeFile(
    join(folder, "native.test.yaml"),
    "config: native.yaml\ntests: [{name: t, request: {path: /v1}, expect: {status: 200}}]\n",
  );
  const args = [command, "--envoy", file === "-" ? "-" : join(folder, file)];
  const { code, stdout, stderr } = await run(args, bootstrapOf({}));
  expect([code, stderr.split("\n")[0]]).toEqual([1, `note: the Envoy is ${path}, from PATH`]);
  expect(stdout + stderr).toContain("from path");
});

test("--envoy with a path takes that one and says nothing of it", async () => {
  const path = await envoyAt("given");
  for (const args of [[`--envoy=${path}`], ["--envoy", path]]) {
    const { stdout, stderr } = await run(["check", ...args, input()]);
    expect([stdout.includes("from given"), stderr]).toEqual([true, ""]);
  }
});

test.each([
  ["", /^error: no Envoy was found on the PATH or in .*cache.attempt-router.envoy: write --envoy=PATH, or set /],
  ["/no/envoy", /^error: ATTEMPT_ROUTER_ENVOY is \/no\/envoy, which is no program\n$/],
])("where there is none: ATTEMPT_ROUTER_ENVOY=%s", async (named, message) => {
  vi.stubEnv("ATTEMPT_ROUTER_ENVOY", named);
  const { code, stdout, stderr } = await run(["check", input(), "--envoy"]);
  expect([code, stdout]).toEqual([1, ""]);
  expect(stderr).toMatch(message);
});
