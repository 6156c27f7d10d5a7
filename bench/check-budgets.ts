// `npm run bench:check -- FILE`: holds the figures that `npm run bench:instructions -- --json FILE` wrote against
// budgets.json. Ends with 1 where one is exceeded or its rows were not measured.

import { readFile } from "node:fs/promises";

interface Budget {
  what: string;
  row: string;
  against: string;
  /** Greatest legal ratio of the two rows. */
  atMost: number;
}

const [file] = process.argv.slice(2);
if (file === undefined) throw new Error("expected the file that bench:instructions wrote");
const { results } = JSON.parse(await readFile(file, "utf8")) as { results: Record<string, number | undefined> };
const budgets = JSON.parse(await readFile(new URL("budgets.json", import.meta.url), "utf8")) as Budget[];
for (const budget of budgets) {
  const { held, text } = verdict(budget);
  process.stdout.write(`${held ? "ok  " : "OVER"} ${budget.what}: ${text}\n`);
  if (!held) process.exitCode = 1;
}

function verdict({ row, against, atMost }: Budget): { held: boolean; text: string } {
  const [one, other] = [results[row], results[against]];
  if (one === undefined || other === undefined) return { held: false, text: "not measured" };
  const ratio = one / other;
  return { held: ratio <= atMost, text: `${ratio.toFixed(3)} of at most ${atMost}` };
}
