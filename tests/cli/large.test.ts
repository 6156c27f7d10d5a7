import { expect, test } from "vitest";
import { lower } from "../../cli/lower.js";
import { largeBootstrap } from "./large.js";

test("a hundred routes with different chains and a thousand clusters lower in under two seconds", () => {
  const text = largeBootstrap(100, 1000);
  const start = performance.now();
  const output = lower(text, { file: "large.yaml" }).text;
  const milliseconds = Math.round(performance.now() - start);
  console.log(`100 routes, 1,000 clusters, ${text.length} characters: lowered in ${milliseconds} ms`);
  expect(new Set(output.match(/route-\d+@ar-[0-9a-f]{16}/g)).size).toBe(100);
  expect(milliseconds).toBeLessThan(2000);
});
