import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { InputError } from "./findings.js";
import type { Io } from "./io.js";

/**
 * The text of a file, or of standard input for `-`.
 * @throws InputError where it cannot be read.
 */
export async function readInput(input: string, io: Io): Promise<string> {
  if (input === "-") return text(io.stdin);
  try {
    return await readFile(input, "utf8");
  } catch (error) {
    throw fileError(input, "a readable file", error);
  }
}

/** Writes standard output, or a file as a whole or not at all: readers never see half of it. */
export async function writeOutput(output: string | undefined, content: string, io: Io): Promise<void> {
  if (output === undefined || output === "-") {
    io.stdout.write(content);
    return;
  }
  const temporary = join(dirname(output), `.${basename(output)}.${process.pid}.tmp`);
  try {
    await writeFile(temporary, content);
    await rename(temporary, output);
  } catch (error) {
    await rm(temporary, { force: true });
    throw fileError(output, "a file that can be written", error);
  }
}

function fileError(file: string, expected: string, error: unknown): InputError {
  const found = error instanceof Error && "code" in error ? String(error.code) : String(error);
  return new InputError([{ file, line: 1, col: 1, path: "(file)", message: `expected ${expected}, found ${found}` }]);
}
