import picocolors from "picocolors";

const colors = picocolors.createColors(process.stderr.isTTY && picocolors.isColorSupported);

/** A finding for standard error: its place in bold on a terminal, plain text anywhere else. */
export function paint(line: string): string {
  const match = /^(.+?:\d+:\d+:)( .*)$/s.exec(line);
  return match === null ? line : `${colors.bold(match[1] ?? "")}${match[2] ?? ""}`;
}

/** The word that marks a line on standard error as no error. */
export function paintNote(word: string): string {
  return colors.yellow(word);
}
