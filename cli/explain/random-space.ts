// Random values that stand for all of them: one for each way in which the groups can be picked from.

/** A random value, and the share of all values that it stands for. */
export interface Point {
  readonly random: bigint;
  readonly probability: number;
}

export interface RandomSpace {
  readonly points: readonly Point[];
  /** The points are a sample: shares are exact to about one in their number. */
  readonly sampled: boolean;
}

/** With more, the values are sampled. */
const MAX_POINTS = 2000;

/**
 * The points for weighted lists that are all picked from with one value: interval borders lie at the sums of weights,
 * and again after every total, so between two borders all picks stay the same.
 */
export function randomSpace(lists: readonly (readonly number[])[]): RandomSpace {
  const weights = lists.map((list) => list.map(BigInt)).filter((list) => list.length > 1);
  const period = weights.map(sum).reduce(leastCommonMultiple, 1n);
  const count = weights.reduce((all, list) => all + (period / sum(list)) * BigInt(list.length), 0n);
  return count > BigInt(MAX_POINTS) ? sample(period) : exact(weights, period);
}

/** As `randomSpace`, where picks hang on more than the intervals that the value falls on. */
export function sampledSpace(): RandomSpace {
  return sample(1n << 64n);
}

function exact(lists: readonly (readonly bigint[])[], period: bigint): RandomSpace {
  const borders = new Set<bigint>([0n]);
  for (const list of lists) {
    const total = sum(list);
    for (let start = 0n; start < period; start += total) {
      let border = start;
      for (const weight of list) borders.add((border += weight));
    }
  }
  const sorted = [...borders].filter((border) => border < period).sort((a, b) => (a < b ? -1 : 1));
  const points = sorted.map((random, index) => {
    const end = sorted[index + 1] ?? period;
    return { random, probability: ratio(end - random, period) };
  });
  return { points, sampled: false };
}

/** Values at equal distances. */
function sample(period: bigint): RandomSpace {
  const count = BigInt(MAX_POINTS);
  const points = Array.from({ length: MAX_POINTS }, (_, index) => {
    const random = ((2n * BigInt(index) + 1n) * period) / (2n * count);
    return { random, probability: 1 / MAX_POINTS };
  });
  return { points, sampled: true };
}

function sum(list: readonly bigint[]): bigint {
  const total = list.reduce((all, weight) => all + weight, 0n);
  return total === 0n ? 1n : total;
}

function leastCommonMultiple(a: bigint, b: bigint): bigint {
  let [x, y] = [a, b];
  while (y !== 0n) [x, y] = [y, x % y];
  return (a / x) * b;
}

function ratio(part: bigint, whole: bigint): number {
  const [digits, scale] = [10n ** 12n, 1e12];
  return Number((part * digits) / whole) / scale;
}
