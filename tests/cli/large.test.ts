import { expect, test } from "vitest";
import { lower } from "../../cli/lower.js";
import { largeBootstrap } from "./large.js";

test("a hundred routes with different chains and a thousand clusters lower in under two seconds", () => {
  const text = largeBootstrap(100, 1000);
  const start = { wall: performance.now(), cpu: process.cpuUsage() };
  const output = lower(text, { file: "large.yaml" }).text;
  const cpu = process.cpuUsage(start.cpu);
  // On a machine that is busy with other tests the wall clock measures those.
  const milliseconds = Math.round(Math.min(performance.now() - start.wall, (cpu.user + cpu.system) / 1000));
  console.log(`100 routes, 1,000 clusters, ${text.length} characters: lowered in ${milliseconds} ms`);
  expect(new Set(output.match(/route-\d+@ar-[0-9a-f]{32}/g)).size).toBe(100);
  expect(milliseconds).toBeLessThan(2000);
});
