// Whether a series stays where it is.

import { median, sum } from "../numbers.js";

export interface Flatness {
  /** Medians of the first and of the last tenth of the samples. */
  first: number;
  last: number;
  /** The most by which `last` may be above `first`. */
  tolerance: number;
  flat: boolean;
}

interface Tenths {
  first: number;
  last: number;
  /** Standard deviation of what the median does from one tenth to the next, its mean taken off: a steady growth has none. */
  noise: number;
}

const TENTHS = 10;
/** Standard deviations. */
const SURE = 3;

/**
 * Whether a series grows no more than another that is known to be sound, by more than the noise of the two. The tolerance is
 * the growth of the other, if it has any, and three standard deviations, or `resolution` where that is more.
 * @param samples at least twenty, as of `baseline`; where there is none, the series must not grow at all.
 */
export function flatness(samples: readonly number[], resolution: number, baseline: readonly number[] = []): Flatness {
  const { first, last, noise } = tenthsOf(samples);
  const other = baseline.length === 0 ? { first: 0, last: 0, noise: 0 } : tenthsOf(baseline);
  const tolerance = Math.max(0, other.last - other.first) + Math.max(resolution, SURE * Math.hypot(noise, other.noise));
  return { first, last, tolerance, flat: last - first <= tolerance };
}

function tenthsOf(samples: readonly number[]): Tenths {
  if (samples.length < 2 * TENTHS) throw new Error(`expected at least ${2 * TENTHS} samples, found ${samples.length}`);
  const medians = Array.from({ length: TENTHS }, (_, tenth) => {
    const [from, to] = [tenth, tenth + 1].map((n) => Math.round((n * samples.length) / TENTHS));
    return median(samples.slice(from, to));
  });
  const steps = medians.slice(1).map((value, i) => value - (medians[i] ?? NaN));
  return { first: medians[0] ?? NaN, last: medians[TENTHS - 1] ?? NaN, noise: deviation(steps) };
}

function deviation(values: readonly number[]): number {
  const mean = sum(values) / values.length;
  return Math.sqrt(sum(values.map((value) => (value - mean) ** 2)) / (values.length - 1));
}
