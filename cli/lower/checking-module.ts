import type { ModuleFiles } from "../modules.js";

/**
 * The file of the module that checks settings: the module that the output names, where this machine has it, may know
 * specifiers that the built one does not.
 */
export function checkingModule({ checkWasm, wasm }: { checkWasm?: string; wasm?: string }, files: ModuleFiles): string {
  if (checkWasm !== undefined) return checkWasm;
  return wasm !== undefined && files.exists(wasm) ? wasm : files.main;
}
