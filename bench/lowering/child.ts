import { readFileSync } from "node:fs";
import { Lowerer, type ConfigObject } from "../../cli/index.js";
import type { LoweringMode } from "../lowering.js";

export interface LoweringFigure {
  cpuMs: number;
  beforeMb: number;
  peakMb: number;
}

/** Calls that come before the ones that count: the compiler of Node.js has then seen the code. */
const WARMING_CALLS = 10;
const COUNTED_CALLS = 10;

const [mode = "", file = ""] = process.argv.slice(2);
process.stdout.write(JSON.stringify(figureOf(mode as LoweringMode, readFileSync(file, "utf8"))));

function figureOf(mode: LoweringMode, text: string): LoweringFigure {
  const lowerer = new Lowerer({ wasm: "/etc/envoy/attempt-router.wasm" });
  const beforeMb = peakMb();
  if (mode === "text") return { cpuMs: cpuOf(() => lowerer.lower(text)), beforeMb, peakMb: peakMb() };
  if (mode === "objects") return { cpuMs: cpuOf(() => lowerer.lower(parsed(text))), beforeMb, peakMb: peakMb() };
  for (let call = 0; call < WARMING_CALLS; call += 1) lowerer.lower(changed(text, call));
  let cpuMs = 0;
  for (let call = 0; call < COUNTED_CALLS; call += 1) {
    const objects = changed(text, WARMING_CALLS + call);
    cpuMs += cpuOf(() => lowerer.lower(objects)) / COUNTED_CALLS;
  }
  return { cpuMs: Math.round(cpuMs), beforeMb, peakMb: peakMb() };
}

function parsed(text: string): ConfigObject {
  return JSON.parse(text) as ConfigObject;
}

/** The file with another weight in one route. */
function changed(text: string, call: number): ConfigObject {
  return parsed(text.replace('"weight":1}', `"weight":${call + 10}}`));
}

function cpuOf(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return Math.round((user + system) / 1000);
}

function peakMb(): number {
  return Math.round(process.resourceUsage().maxRSS / 1024);
}
