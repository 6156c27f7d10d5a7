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

/** The absolute path of a file of the build. */
export function builtPath(name: string): string {
  // Sources are TypeScript, and run from cli.
  const folder = import.meta.url.endsWith(".js") ? ".." : "../build";
  return fileURLToPath(new URL(`${folder}/${name}`, import.meta.url));
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
