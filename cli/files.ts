import { isUtf8 } from "node:buffer";
import { readFile } from "node:fs/promises";
import { buffer } from "node:stream/consumers";
import { getSystemErrorMap } from "node:util";
import { InputError } from "./findings.js";
import type { Io } from "./io.js";
import { targetOf, writeTo, writeToDescriptor } from "./output.js";

/**
 * The text of a file, or of standard input for `-`.
 * @throws InputError where it cannot be read, or is no UTF-8.
 */
export async function readInput(input: string, io: Io): Promise<string> {
  const bytes = input === "-" ? await buffer(io.stdin) : await readBytes(input);
  if (!isUtf8(bytes)) throw notUtf8(input === "-" ? "<stdin>" : input, bytes);
  return bytes.toString("utf8");
}

async function readBytes(input: string): Promise<Buffer> {
  try {
    return await readFile(input);
  } catch (error) {
    throw fileError(input, "a readable file", error);
  }
}

const LINE_FEED = 0x0a;

/** Other bytes would come out as U+FFFD, wherever they stand. */
function notUtf8(file: string, bytes: Buffer): InputError {
  let line = 1;
  let start = 0;
  for (;;) {
    const end = bytes.indexOf(LINE_FEED, start);
    if (end < 0 || !isUtf8(bytes.subarray(start, end))) break;
    start = end + 1;
    line += 1;
  }
  return new InputError([{ file, line, col: 1, path: "(file)", message: "expected UTF-8, found other bytes" }]);
}

/**
 * Writes standard output, or what `output` is: a file as a whole or not at all, the target of a link, a device or pipe
 * as it stands.
 * @throws InputError where that cannot be done.
 */
export async function writeOutput(output: string | undefined, content: string, io: Io): Promise<void> {
  if (output === undefined || output === "-") return writeStandard(content, io);
  try {
    const target = await targetOf(output);
    if ("path" in target) await writeTo(target.path, content);
    else if (target.descriptor === 1) await writeStandard(content, io);
    else await writeToDescriptor(target.descriptor, content);
  } catch (error) {
    throw error instanceof InputError ? error : fileError(output, WRITABLE, error);
  }
}

/** Waits until standard output has taken everything. @throws InputError where it cannot: a closed pipe, a full disk. */
export async function flushed(io: Io): Promise<void> {
  try {
    await io.flush?.();
  } catch (error) {
    throw fileError("<stdout>", WRITABLE, error);
  }
}

async function writeStandard(content: string, io: Io): Promise<void> {
  io.stdout.write(content);
  await flushed(io);
}

const WRITABLE = "a file that can be written";

/** As in `ENOENT: no such file or directory`. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error) || !("code" in error)) return String(error);
  const number = "errno" in error ? Number(error.errno) : NaN;
  return getSystemErrorMap().get(number)?.join(": ") ?? String(error.code);
}

function fileError(file: string, expected: string, error: unknown): InputError {
  const found = reasonOf(error);
  return new InputError([{ file, line: 1, col: 1, path: "(file)", message: `expected ${expected}, found ${found}` }]);
}
