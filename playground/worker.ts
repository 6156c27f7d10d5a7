// Runs the analysis beside the page, so that typing never waits for it.

import hold from "../build/attempt-router-hold.wasm";
import main from "../build/attempt-router.wasm";
import { Analyser, type Analysis } from "./analysis.js";
import type { Form } from "./question.js";

export interface Task {
  id: number;
  config: string;
  form: Form;
}

export type Outcome = { id: number; analysis: Analysis } | { id: number; defect: string };

const MODULES: ReadonlyMap<string, Uint8Array> = new Map([
  ["attempt-router.wasm", main],
  ["attempt-router-hold.wasm", hold],
]);

const analyser = new Analyser({
  main: "attempt-router.wasm",
  hold: "attempt-router-hold.wasm",
  exists: (path) => MODULES.has(path),
  read: (path) => MODULES.get(path) ?? new Uint8Array(0),
});

addEventListener("message", ({ data }: MessageEvent<Task>) => postMessage(outcomeOf(data)));

function outcomeOf({ id, config, form }: Task): Outcome {
  try {
    return { id, analysis: analyser.analyse(config, form) };
  } catch (error) {
    return { id, defect: error instanceof Error ? error.message : String(error) };
  }
}
