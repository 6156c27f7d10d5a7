// The built modules as the rest of the command line sees them, wherever it runs.

/** The modules that came with the program, and other files that a config may name as one. */
export interface ModuleFiles {
  /** What the built module is called here: its absolute path, on a machine that has files. */
  readonly main: string;
  /** The same of the module that holds answers. */
  readonly hold: string;
  exists(path: string): boolean;
  /** The bytes of a file that exists. */
  read(path: string): Uint8Array;
}

/** The wasm module, or another file of the build, is not where the package or a build puts it. */
export class MissingModuleError extends Error {
  override readonly name = "MissingModuleError";

  constructor(path: string, what = "module") {
    super(
      `expected the built ${what} at ${path}, found no file; \`npm run build\` makes it in a checkout, ` +
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

/** The path itself. @throws MissingModuleError */
export function requireModule(files: ModuleFiles, path: string): string {
  if (!files.exists(path)) throw new MissingModuleError(path);
  return path;
}

/** @throws MissingModuleError */
export function readModule(files: ModuleFiles, path: string): Uint8Array {
  return files.read(requireModule(files, path));
}
