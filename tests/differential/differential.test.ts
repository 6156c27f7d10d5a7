import { expect, test } from "vitest";
import type { Case } from "../support/case.js";
import { generate } from "./generate.js";
import { runConfigs } from "./run.js";
import { shrink } from "./shrink.js";

test("random configurations do lowered what they do natively", async () => {
  const { failures, counts } = await runConfigs({ configs: 12, seed: 20261203 });
  expect(failures).toEqual([]);
  // Most configurations must not be illegal, or refused.
  expect(counts.equal).toBeGreaterThanOrEqual(6);
});

test("equal seeds give equal configurations, and other ones others", () => {
  expect(generate(7)).toEqual(generate(7));
  expect(generate(7)).not.toEqual(generate(8));
});

test("a failing case shrinks to what makes it fail", async () => {
  const isFailing = (test: Case): boolean => JSON.stringify(test).includes("retry_policy");
  const whole = generate(1);
  expect(isFailing(whole)).toBe(true);
  const small = await shrink(whole, (test) => Promise.resolve(isFailing(test)), 500);
  expect(isFailing(small)).toBe(true);
  expect(JSON.stringify(small.route_config).length).toBeLessThan(200);
  expect(small.http_filters).toBeUndefined();
});
