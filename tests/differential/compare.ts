// One random configuration on native Envoy and, lowered, on every version.

import { readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { InputError } from "../../cli/findings.js";
import { EnvoyStartError } from "../../tools/envoy/process.js";
import type { Case } from "../support/case.js";
import { lowered } from "../support/lowering.js";
import { comparableTraces, runLeg, type LegResult } from "../support/run-case.js";

const { oracle, versions } = JSON.parse(
  readFileSync(new URL("../../tools/envoy/versions.json", import.meta.url), "utf8"),
) as { oracle: string; versions: string[] };

/**
 * `equal`: every version did what native Envoy did. `illegal`: native Envoy does not start. `refused`: `lower` says why not.
 * `crashed`: `lower` failed otherwise, or Envoy does not start with its output. `different`: a request went another way.
 */
export type Verdict = { kind: "equal"; requests: number } | { kind: "illegal" | "refused"; because: string } | Failure;

export interface Failure {
  kind: "crashed" | "different";
  version: string;
  because: string;
}

/**
 * Runs a case natively and lowered.
 * @param only the version to run lowered; all of them where it is not given
 * @param onNative is given the native configuration as it was lowered
 */
export async function compare(test: Case, only?: string, onNative?: (text: string) => void): Promise<Verdict> {
  const native = await leg(test, oracle, undefined);
  if (native instanceof Error) return { kind: "illegal", because: firstLine(native) };
  for (const version of only === undefined ? versions : [only]) {
    const result = await leg(test, version, (text) => {
      onNative?.(text);
      return lowered(text, test.file, test.lower);
    });
    if (result instanceof InputError) return { kind: "refused", because: firstLine(result) };
    if (result instanceof Error) return { kind: "crashed", version, because: firstLine(result) };
    const because = difference(comparableTraces(test, native), comparableTraces(test, result));
    if (because !== undefined) return { kind: "different", version, because };
  }
  return { kind: "equal", requests: test.requests.length };
}

async function leg(test: Case, version: string, transform: Parameters<typeof runLeg>[2]): Promise<LegResult | Error> {
  try {
    return await runLeg(test, version, transform);
  } catch (error) {
    // Natively, anything but Envoy's own refusal is a defect of the harness.
    if (transform === undefined && !(error instanceof EnvoyStartError && error.refused)) throw error;
    return error as Error;
  }
}

function difference(native: unknown[], lowered: unknown[]): string | undefined {
  const index = native.findIndex((trace, i) => !isDeepStrictEqual(trace, lowered[i]));
  if (index < 0) return undefined;
  return `request ${index}\n  native:  ${JSON.stringify(native[index])}\n  lowered: ${JSON.stringify(lowered[index])}`;
}

function firstLine(error: Error): string {
  return error.message.trim().split("\n").slice(0, 2).join(" ");
}
