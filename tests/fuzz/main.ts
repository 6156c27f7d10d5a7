// `npm run fuzz -- [inputs] [seed]`: the fuzzer of the per-request override, with a progress line.
import { fuzz } from "./fuzz.js";

const DEFAULT_INPUTS = 200_000;

const inputs = Number(process.argv[2] ?? DEFAULT_INPUTS);
const seed = Number(process.argv[3] ?? Date.now() % 2 ** 32);
const started = Date.now();
const out = process.stderr;

out.write(`seed ${seed}\n`);
const onProgress = (done: number) => {
  const seconds = (Date.now() - started) / 1000;
  if (out.isTTY) out.write(`\r${done} of ${inputs} inputs, ${Math.round(done / seconds)}/s `);
  else if (done % 20_000 === 0) out.write(`${done} of ${inputs} inputs\n`);
};
const report = fuzz({ inputs, seed, onProgress });
if (out.isTTY) out.write("\n");
process.stdout.write(`${JSON.stringify({ ...report, seconds: (Date.now() - started) / 1000 })}\n`);
