import { fileURLToPath } from "node:url";
import { lower, type LowerOptions } from "../../cli/lower.js";

/** The built module. */
export const WASM = fileURLToPath(new URL("../../build/attempt-router.wasm", import.meta.url));

/**
 * Stock configuration for native configuration `text`; `file` is what errors name.
 * @throws what `lower` throws when the configuration is wrong.
 */
export function lowered(text: string, file: string, options: LowerOptions = {}): string {
  return lower(text, { file, wasm: WASM, ...options }).text;
}
