// `npm run fuzz:specifiers -- [chains] [seed] [folder]`: random chains of route specifiers against the model.

import { runChains } from "./run.js";

const DEFAULT_CHAINS = 1000;

const chains = Number(process.argv[2] ?? DEFAULT_CHAINS);
const seed = Number(process.argv[3] ?? Date.now() % 2 ** 31);
const folder = process.argv[4] ?? "fuzz-specifiers-failures";
if (!Number.isSafeInteger(chains) || chains < 1 || !Number.isSafeInteger(seed)) {
  process.stderr.write("usage: npm run fuzz:specifiers -- [chains] [seed] [folder for failing chains]\n");
  process.exit(2);
}

process.stderr.write(`seed ${seed}\n`);
const report = await runChains({
  chains,
  seed,
  folder,
  onProgress: (now) =>
    process.stderr.write(`${now.chains} of ${chains} chains, ${now.failures.length} requests differ\n`),
});
process.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
process.exitCode = report.failures.length === 0 ? 0 : 1;
