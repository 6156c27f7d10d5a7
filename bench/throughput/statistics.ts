// Whether two things differ, from ratios that were measured pair by pair.

import { ascending, median, quantile } from "../numbers.js";

/** The ratios of all pairs, summed up. */
export interface RatioSummary {
  median: number;
  quartiles: readonly [number, number];
  range: readonly [number, number];
  /** Where the true median lies, at a confidence of at least 95 %; undefined below six pairs. */
  interval: readonly [number, number] | undefined;
  /** Whether the interval leaves out 1: the difference is more than noise. */
  differs: boolean;
}

const CONFIDENCE = 0.95;

/** @param ratios one per pair, at least one. */
export function summarizeRatios(ratios: readonly number[]): RatioSummary {
  const sorted = ascending(ratios);
  const interval = medianInterval(sorted);
  return {
    median: median(sorted),
    quartiles: [quantile(sorted, 0.25), quantile(sorted, 0.75)],
    range: [at(sorted, 0), at(sorted, sorted.length - 1)],
    interval,
    differs: interval !== undefined && (interval[0] > 1 || interval[1] < 1),
  };
}

/**
 * The interval that a sign test does not reject, which asks nothing of the distribution: from the k-th smallest to the
 * k-th greatest value, with the greatest k that keeps the confidence.
 */
function medianInterval(sorted: readonly number[]): readonly [number, number] | undefined {
  const count = sorted.length;
  let tail = 0;
  let outside = 0;
  for (; outside < count / 2; outside++) {
    tail += binomial(count, outside) / 2 ** count;
    if (2 * tail > 1 - CONFIDENCE) break;
  }
  return outside === 0 ? undefined : [at(sorted, outside - 1), at(sorted, count - outside)];
}

function binomial(n: number, k: number): number {
  let result = 1;
  for (let i = 1; i <= k; i++) result = (result * (n - k + i)) / i;
  return result;
}

function at(values: readonly number[], index: number): number {
  const value = values[index];
  if (value === undefined) throw new Error("expected at least one value");
  return value;
}
