import type { Readable } from "node:stream";
import picocolors from "picocolors";

/** Where a command reads and writes, so that it can run in a test as it does on a terminal. */
export interface Io {
  stdin: Readable;
  stdout: { write(text: string): unknown };
  stderr: { write(text: string): unknown };
  /** Whether standard error is a terminal that shows colours. */
  colors: boolean;
}

export function processIo(): Io {
  // `isTTY` is undefined for a pipe, which picocolors would take for "decide yourself".
  const colors = process.stderr.isTTY ? picocolors.isColorSupported : false;
  return { stdin: process.stdin, stdout: process.stdout, stderr: process.stderr, colors };
}
