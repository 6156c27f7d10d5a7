// `npm run bench:check -- FILE`: holds the figures that `npm run bench:instructions -- --json FILE` wrote against
// budgets.json. Ends with 1 where a budget is exceeded or its rows were not measured, with 2 where FILE cannot be used.

import { readBudgets, verdict } from "./budgets.js";
import { command } from "./command.js";
import { readFigures, UnusableInput } from "./figures.js";

await command(async () => {
  const [file, ...rest] = process.argv.slice(2);
  if (file === undefined || rest.length > 0) throw new UnusableInput("usage: npm run bench:check -- FILE");
  const { results } = await readFigures(file);
  const verdicts = (await readBudgets()).map((budget) => verdict(budget, results));
  process.stdout.write(verdicts.map(({ text }) => `${text}\n`).join(""));
  if (verdicts.every(({ held }) => held)) return;
  process.stderr.write(`${file}: not every budget is held\n`);
  process.exitCode = 1;
});
