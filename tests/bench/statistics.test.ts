import { describe, expect, it } from "vitest";
import { quantile } from "../../bench/numbers.js";
import { summarizeRatios } from "../../bench/throughput/statistics.js";

describe("quantile", () => {
  it("lies between values by their distance", () => {
    expect(quantile([4, 1, 3, 2], 0.5)).toBe(2.5);
    expect(quantile([10, 20, 30], 0.25)).toBe(15);
    expect([0, 1].map((q) => quantile([3, 1, 2], q))).toEqual([1, 3]);
  });

  it("needs a value", () => {
    expect(() => quantile([], 0.5)).toThrow("at least one");
  });
});

describe("a summary of ratios", () => {
  const tens = (from: number) => Array.from({ length: 10 }, (_, i) => from + i / 100);

  it("has median, quartiles and range", () => {
    const { median, quartiles, range } = summarizeRatios([1.1, 1.3, 1.2, 1.5, 1.4]);
    expect({ median, quartiles, range }).toEqual({ median: 1.3, quartiles: [1.2, 1.4], range: [1.1, 1.5] });
  });

  // Of ten values, at most one outside on each side: the sign test's 21 of 1024.
  it("leaves one of ten pairs aside on each side", () => {
    expect(summarizeRatios(tens(1)).interval).toEqual([1.01, 1.08]);
  });

  it("tells a difference from noise", () => {
    expect(summarizeRatios(tens(1.02)).differs).toBe(true);
    expect(summarizeRatios(tens(0.85)).differs).toBe(true);
    expect(summarizeRatios([0.9, ...tens(1.02).slice(1)]).differs).toBe(true);
    expect(summarizeRatios([0.9, 0.98, ...tens(1.02).slice(2)]).differs).toBe(false);
    expect(summarizeRatios(tens(0.96)).differs).toBe(false);
  });

  it("says nothing of fewer than six pairs", () => {
    expect(summarizeRatios([2, 2, 2, 2, 2])).toMatchObject({ interval: undefined, differs: false });
    expect(summarizeRatios([2, 2, 2, 2, 2, 2])).toMatchObject({ interval: [2, 2], differs: true });
  });

  // The sign test is the reference: how often a fair coin leaves the interval.
  it("covers the true median in at least 95 % of the runs", () => {
    let [state, missed] = [1, 0];
    const random = () => (state = (state * 48271) % 2147483647) / 2147483647;
    for (let run = 0; run < 4000; run++) {
      const { interval } = summarizeRatios(Array.from({ length: 12 }, () => 0.5 + random()));
      if (interval === undefined || interval[0] > 1 || interval[1] < 1) missed++;
    }
    expect(missed / 4000).toBeLessThan(0.05);
  });
});
