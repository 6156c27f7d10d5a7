// What became of a request, against what was expected.

import type { TestExpectation } from "./file.js";

/** Undefined fields were not observed, and are not compared. */
export interface Observed {
  readonly virtualHost?: string | null;
  readonly route?: string | null;
  readonly attempts?: readonly string[] | null;
  readonly status?: number | null;
  readonly firstAttempt?: Readonly<Record<string, number>>;
  /** Of the shares of `firstAttempt`, where they are measured. */
  readonly tolerance?: number;
}

/** Sentences about what differs; none: as expected. */
export function differences(expected: TestExpectation, observed: Observed): string[] {
  return [
    ...differs("virtual host", expected.virtualHost, observed.virtualHost),
    ...differs("route", expected.route, observed.route),
    ...differs("attempts", expected.attempts, observed.attempts),
    ...differs("status", expected.status, observed.status),
    ...shareDifferences(expected, observed),
  ];
}

function differs(what: string, expected: unknown, found: unknown): string[] {
  if (expected === undefined || found === undefined) return [];
  const [wanted, got] = [JSON.stringify(expected), JSON.stringify(found)];
  return wanted === got ? [] : [`${what}: expected ${wanted}, found ${got}`];
}

function shareDifferences({ firstAttempt, tolerance }: TestExpectation, observed: Observed): string[] {
  if (firstAttempt === undefined || observed.firstAttempt === undefined) return [];
  const names = new Set([...Object.keys(firstAttempt), ...Object.keys(observed.firstAttempt)]);
  return [...names].flatMap((name) => {
    const [wanted, found] = [firstAttempt[name] ?? 0, observed.firstAttempt?.[name] ?? 0];
    if (Math.abs(wanted - found) <= Math.max(tolerance, observed.tolerance ?? 0)) return [];
    return [`first attempt: expected ${wanted} of the requests on ${name}, found ${Number(found.toFixed(4))}`];
  });
}
