import { existsSync } from "node:fs";
import { builtModulePath } from "../module-path.js";

/**
 * The file of the module that checks settings: the module that the output names, where this machine has it, may know
 * specifiers that the built one does not.
 */
export function checkingModule({ checkWasm, wasm }: { checkWasm?: string; wasm?: string }): string {
  if (checkWasm !== undefined) return checkWasm;
  return wasm !== undefined && existsSync(wasm) ? wasm : builtModulePath();
}
