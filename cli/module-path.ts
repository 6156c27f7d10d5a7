import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { ModuleFiles } from "./modules.js";

/** The absolute path of the built module, seen from build/cli (the built command) or from cli (the sources). */
export function builtModulePath(): string {
  return builtPath("attempt-router.wasm");
}

/** The same of the module that holds answers. */
export function builtHoldModulePath(): string {
  return builtPath("attempt-router-hold.wasm");
}

function builtPath(name: string): string {
  const [built, fromSources] = [`../${name}`, `../build/${name}`].map((relative) =>
    fileURLToPath(new URL(relative, import.meta.url)),
  ) as [string, string];
  return existsSync(built) || import.meta.url.endsWith(".js") ? built : fromSources;
}

/** The files of this machine. */
export const MODULE_FILES: ModuleFiles = {
  get main() {
    return builtModulePath();
  },
  get hold() {
    return builtHoldModulePath();
  },
  exists: existsSync,
  read: (path) => readFileSync(path),
};
