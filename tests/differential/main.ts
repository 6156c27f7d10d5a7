// `npm run fuzz:config -- [configs] [seed] [folder]`: random configurations, native against lowered.

import { runConfigs } from "./run.js";

const DEFAULT_CONFIGS = 200;

const configs = Number(process.argv[2] ?? DEFAULT_CONFIGS);
const seed = Number(process.argv[3] ?? Date.now() % 2 ** 31);
const folder = process.argv[4] ?? "fuzz-config-failures";
if (!Number.isSafeInteger(configs) || configs < 1 || !Number.isSafeInteger(seed)) {
  process.stderr.write("usage: npm run fuzz:config -- [configs] [seed] [folder for failing cases]\n");
  process.exit(2);
}

process.stderr.write(`seed ${seed}\n`);
const report = await runConfigs({
  configs,
  seed,
  folder,
  onProgress: (done, { failures }) => {
    const line = `${done} of ${configs} configurations, ${failures.length} failed`;
    if (process.stderr.isTTY) process.stderr.write(`\r${line} `);
    else if (done % 20 === 0) process.stderr.write(`${line}\n`);
  },
});
if (process.stderr.isTTY) process.stderr.write("\n");
process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
process.exitCode = report.failures.length === 0 ? 0 : 1;
