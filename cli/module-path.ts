import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The wasm module is not where the package or a build puts it. */
export class MissingModuleError extends Error {
  override readonly name = "MissingModuleError";

  constructor(path: string) {
    super(
      `expected the built module at ${path}, found no file; \`npm run build\` makes it in a checkout, ` +
        "and an installed package has it: install it again",
    );
  }
}

/** The module that was named cannot check settings: it is not there, or no module of this kind. */
export class UnusableModuleError extends Error {
  override readonly name = "UnusableModuleError";

  constructor(path: string, found: string) {
    super(`expected a module to check the settings with at ${path}, found ${found}; name one with --check-wasm FILE`);
  }
}

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

/** @throws MissingModuleError */
export function requireModule(path: string): string {
  if (!existsSync(path)) throw new MissingModuleError(path);
  return path;
}
