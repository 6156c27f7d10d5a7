import { expect, test } from "vitest";
import { lower } from "../../cli/lower.js";
import { largeBootstrap } from "./large.js";

test("a hundred routes with different priority groups are each validated once", () => {
  let validated = 0;
  const validator = () => {
    validated++;
    return [];
  };
  const output = lower(largeBootstrap(100, 1000), { file: "large.yaml", validator }).text;
  expect(new Set(output.match(/route-\d+@ar-[0-9a-f]{32}/g)).size).toBe(100);
  expect(validated).toBe(100);
});
