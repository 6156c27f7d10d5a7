import { colors } from "../tools/terminal.js";

const BAR_WIDTH = 40;

export function say(text = ""): void {
  process.stdout.write(`${text}\n`);
}

export function heading(text: string): void {
  say(`\n${colors.bold(text)}`);
}

/** Prints rows as columns under a head, indented. A status is green when it is a success, red when it is none. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): void {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => (row[column] ?? "").length)));
  const line = (row: readonly string[]) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0));
  say(`  ${colors.dim(line(head).join("  ").trimEnd())}`);
  for (const row of rows) {
    const cells = line(row);
    const status = cells.pop()?.trimEnd() ?? "";
    say(`  ${[...cells, status.startsWith("2") ? colors.green(status) : colors.red(status)].join("  ")}`);
  }
}

/** Prints shares of a whole as bars. */
export function bars(counts: ReadonlyMap<string, number>): void {
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const width = Math.max(...[...counts.keys()].map((name) => name.length));
  for (const [name, count] of counts) {
    const share = total === 0 ? 0 : count / total;
    const length = Math.round(share * BAR_WIDTH);
    const bar = colors.cyan("█".repeat(length)) + colors.dim("·".repeat(BAR_WIDTH - length));
    say(`  ${name.padEnd(width)}  ${bar}  ${(share * 100).toFixed(1).padStart(5)} %  ${count}`);
  }
}
