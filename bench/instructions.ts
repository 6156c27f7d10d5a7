// `npm run bench:instructions -- [--row TEXT]… [--without TEXT]… [--requests N] [--warm-up N] [--json FILE] [--list]`:
// instructions per request, row by row, each compared with another. Needs valgrind; a row takes about 20 seconds.
// Rows are added to those that FILE has. Ends with 2 where it cannot run.

import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { command, numberOption } from "./command.js";
import { differingCondition, readFigures, UnusableInput, type Figure, type Figures } from "./figures.js";
import { conditions, DEFAULT_AMOUNT, measure, type Amount } from "./measure.js";
import { ROWS } from "./rows.js";
import { selectRows } from "./select.js";

const WIDTH = Math.max(...ROWS.map(({ name }) => name.length));

await command(main);

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      row: { type: "string", multiple: true, default: [] },
      without: { type: "string", multiple: true, default: [] },
      requests: { type: "string", default: String(DEFAULT_AMOUNT.requests) },
      "warm-up": { type: "string", default: String(DEFAULT_AMOUNT.warmUp) },
      json: { type: "string" },
      list: { type: "boolean", default: false },
    },
  });
  const amount = {
    warmUp: numberOption("warm-up", values["warm-up"], 1),
    requests: numberOption("requests", values.requests, 1),
  };
  const figures = await startFigures(values.json, amount);
  const rows = selectRows(ROWS, values.row, values.without, new Set(Object.keys(figures.results)));
  if (values.list) {
    process.stdout.write(rows.map(({ name }) => `${name}\n`).join(""));
    return;
  }
  process.stdout.write(line("row", "instructions", "compared") + line("---", "---:", "---"));
  await measure(rows, amount, figures.results, async (name, figure) => {
    process.stdout.write(line(name, figure.instructions.toLocaleString("en"), comparison(figure)));
    if (values.json !== undefined) await writeFile(values.json, `${JSON.stringify(figures, null, 2)}\n`);
  });
}

/** What `file` holds, if there is one. */
async function startFigures(file: string | undefined, amount: Amount): Promise<Figures> {
  const now = await conditions(amount);
  if (file === undefined || !existsSync(file)) return { conditions: now, results: {} };
  const figures = await readFigures(file);
  const differing = differingCondition(now, figures.conditions);
  if (differing === undefined) return figures;
  const [was, is] = [figures.conditions[differing], now[differing]];
  throw new UnusableInput(`${file}: holds figures of another ${differing} (${was}, not ${is}); name another file`);
}

function comparison({ against, ratio }: Figure): string {
  return against === undefined || ratio === undefined ? "" : `${ratio.toFixed(4)} of ${against}`;
}

function line(name: string, instructions: string, compared: string): string {
  return `| ${name.padEnd(WIDTH)} | ${instructions.padStart(12)} | ${compared} |\n`;
}
