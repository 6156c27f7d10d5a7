// An Envoy of this machine, for commands that were given none.

import { accessSync, constants, readdirSync, statSync } from "node:fs";
import { delimiter, join } from "node:path";
import { cacheFolder } from "./cache.js";

/** There is no Envoy to run. */
export class NoEnvoyError extends Error {
  override readonly name = "NoEnvoyError";
}

export interface InstalledEnvoy {
  readonly path: string;
  /** Where it was looked up, as a phrase. */
  readonly from: string;
}

/**
 * The Envoy that ATTEMPT_ROUTER_ENVOY names, else `envoy` on the PATH, else the newest one that the tests or the demo fetched.
 * @throws NoEnvoyError with what was tried
 */
export function installedEnvoy(): InstalledEnvoy {
  const named = process.env["ATTEMPT_ROUTER_ENVOY"] ?? "";
  if (named !== "") {
    if (isProgram(named)) return { path: named, from: "ATTEMPT_ROUTER_ENVOY" };
    throw new NoEnvoyError(`ATTEMPT_ROUTER_ENVOY is ${named}, which is no program`);
  }
  const folders = (process.env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
  const onPath = folders.map((folder) => join(folder, "envoy")).find(isProgram);
  if (onPath !== undefined) return { path: onPath, from: "PATH" };
  const cache = cacheFolder("envoy");
  const cached = versionsIn(cache)
    .map((version) => join(cache, version, "envoy"))
    .find(isProgram);
  if (cached !== undefined) return { path: cached, from: "the cache of attempt-router" };
  throw new NoEnvoyError(
    `no Envoy was found on the PATH or in ${cache}: write --envoy=PATH, or set ATTEMPT_ROUTER_ENVOY`,
  );
}

/** The newest first; what is no version is left out. */
function versionsIn(cache: string): string[] {
  try {
    const versions = readdirSync(cache).filter((name) => /^\d+\.\d+\.\d+/.test(name));
    return versions.sort((a, b) => b.localeCompare(a, "en", { numeric: true }));
  } catch {
    return [];
  }
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
