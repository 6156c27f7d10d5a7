// The budgets of budgets.json, and what figures make of them.

import { readFile } from "node:fs/promises";
import type { Figure } from "./figures.js";

/** The greatest legal ratio of two rows. */
export interface Budget {
  what: string;
  row: string;
  against: string;
  atMost: number;
  /** Every run of the tests holds it. */
  ci?: true;
}

export interface Verdict {
  held: boolean;
  /** One line. */
  text: string;
}

export async function readBudgets(): Promise<Budget[]> {
  return JSON.parse(await readFile(new URL("budgets.json", import.meta.url), "utf8")) as Budget[];
}

/** A row that was not measured holds no budget. */
export function verdict({ what, row, against, atMost }: Budget, results: Record<string, Figure>): Verdict {
  const [one, other] = [results[row], results[against]];
  const missing = one === undefined ? row : against;
  if (one === undefined || other === undefined) {
    return { held: false, text: `MISS ${what}: row "${missing}" was not measured` };
  }
  const ratio = one.instructions / other.instructions;
  const held = ratio <= atMost;
  const rows = held ? "" : `: "${row}" ${one.instructions}, "${against}" ${other.instructions}`;
  return { held, text: `${held ? "ok  " : "OVER"} ${what}: ${ratio.toFixed(4)} of at most ${atMost}${rows}` };
}
