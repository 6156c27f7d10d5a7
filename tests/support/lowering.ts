import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

const ROOT = new URL("../../", import.meta.url);

/** The built module. */
export const WASM = fileURLToPath(new URL("build/attempt-router.wasm", ROOT));

interface LowerModule {
  lower: (text: string, options: { file: string; wasm: string }) => { text: string } | Promise<{ text: string }>;
}

/** Why nothing can be lowered yet; undefined when it can. */
export function cannotLower(): string | undefined {
  if (!existsSync(WASM)) return "build/attempt-router.wasm is not built";
  return existsSync(new URL("cli/lower.ts", ROOT)) ? undefined : "cli/lower.ts does not exist";
}

/**
 * Stock configuration for native configuration `text`; `file` is what errors name.
 * @throws what `lower` throws when the configuration is wrong.
 */
export async function lowered(text: string, file: string): Promise<string> {
  const { lower } = (await import(new URL("cli/lower.ts", ROOT).href)) as LowerModule;
  return (await lower(text, { file, wasm: WASM })).text;
}
