// `npm run bench:ci -- [--json FILE]`: measures the rows of the budgets that every run of the tests holds, and ends with 1
// where one is exceeded. FILE gets the figures and the verdicts.

import { writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { readBudgets, verdict } from "./budgets.js";
import { command } from "./command.js";
import type { Figures } from "./figures.js";
import { conditions, DEFAULT_AMOUNT, measure } from "./measure.js";
import { ROWS } from "./rows.js";

/** Twice as many as elsewhere: how many of the weighted picks are the dear ones is chance, and must break no budget. */
const AMOUNT = { ...DEFAULT_AMOUNT, requests: 4_000 };

/** What a ratio may exceed its budget by: processors have their own versions of copying and hashing. */
const TOLERANCE = 0.005;

await command(async () => {
  const { values } = parseArgs({ options: { json: { type: "string" } } });
  const budgets = (await readBudgets()).filter(({ ci }) => ci);
  const names = new Set(budgets.flatMap(({ row, against }) => [row, against]));
  const rows = ROWS.filter(({ name }) => names.has(name));
  const figures: Figures = { conditions: await conditions(AMOUNT), results: {} };
  await measure(rows, AMOUNT, figures.results, () => undefined);
  const verdicts = budgets.map((budget) => {
    const atMost = Number((budget.atMost + TOLERANCE).toFixed(4));
    return verdict({ ...budget, atMost }, figures.results);
  });
  process.stdout.write(verdicts.map(({ text }) => `${text}\n`).join(""));
  if (verdicts.some(({ held }) => !held)) process.exitCode = 1;
  if (values.json !== undefined) await writeFile(values.json, `${JSON.stringify({ ...figures, verdicts }, null, 2)}\n`);
});
