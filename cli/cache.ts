import { homedir } from "node:os";
import { join } from "node:path";

/** A folder for what is fetched or built once for all runs: below $XDG_CACHE_HOME, else ~/.cache. */
export function cacheFolder(...names: string[]): string {
  const cache = process.env["XDG_CACHE_HOME"] ?? "";
  return join(cache === "" ? join(homedir(), ".cache") : cache, "attempt-router", ...names);
}
