import type { Readable, Writable } from "node:stream";
import picocolors from "picocolors";

/** Where a command reads and writes, so that it can run in a test as it does on a terminal. */
export interface Io {
  stdin: Readable;
  stdout: { write(text: string): unknown };
  stderr: { write(text: string): unknown };
  /** Whether standard error is a terminal that shows colours. */
  colors: boolean;
  /** Whether standard output is one; absent: no. */
  outColors?: boolean;
  /** Resolves once standard output has taken everything; rejects with the system's error where it did not. */
  flush?: () => Promise<unknown>;
}

export function processIo(): Io {
  // `isTTY` is undefined for a pipe, which picocolors would take for "decide yourself".
  const colors = process.stderr.isTTY ? picocolors.isColorSupported : false;
  const outColors = process.stdout.isTTY ? picocolors.isColorSupported : false;
  // Nobody can be told that nobody reads what is wrong; the exit code still says it.
  process.stderr.on("error", () => undefined);
  return { stdin: process.stdin, ...outcomeOf(process.stdout), stderr: process.stderr, colors, outColors };
}

/** Keeps what became of each write: as events, errors would end the process with a stack trace. */
function outcomeOf(stream: Writable): Pick<Io, "stdout" | "flush"> {
  const writes: Promise<void>[] = [];
  stream.on("error", () => undefined);
  const write = (text: string): void => {
    const done = new Promise<void>((resolve, reject) => {
      stream.write(text, (error) => (error ? reject(error) : resolve()));
    });
    done.catch(() => undefined);
    writes.push(done);
  };
  return { stdout: { write }, flush: () => Promise.all(writes.splice(0)) };
}
