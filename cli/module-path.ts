import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The absolute path of the built module, seen from build/cli (the built command) or from cli (the sources). */
export function builtModulePath(): string {
  const [built, fromSources] = ["../attempt-router.wasm", "../build/attempt-router.wasm"].map((relative) =>
    fileURLToPath(new URL(relative, import.meta.url)),
  ) as [string, string];
  return existsSync(built) ? built : fromSources;
}
