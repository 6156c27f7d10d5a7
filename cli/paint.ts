import picocolors from "picocolors";
import type { Io } from "./io.js";

/** Writes a line on standard error whose place (`file:line:col:`) is bold on a terminal. */
export function writePlaced(io: Io, line: string, note = false): void {
  const colors = picocolors.createColors(io.colors);
  const match = /^(.+?:\d+:\d+:)( .*)$/s.exec(line);
  const [place, rest] = match === null ? ["", line] : [match[1] ?? "", match[2] ?? ""];
  io.stderr.write(`${colors.bold(place)}${note ? ` ${colors.yellow("note:")}` : ""}${rest}\n`);
}
