import { expect, test } from "vitest";
import { fuzz } from "./fuzz.js";

test("5,000 inputs: no trap, the specification's clusters, memory flat", () => {
  const report = fuzz({ inputs: 5000, seed: 20261130 });
  expect(report.parsed).toBeGreaterThan(2000);
  expect(report.overridden).toBeGreaterThan(500);
  expect(report.memoryAfter).toBe(report.memoryBefore);
});
