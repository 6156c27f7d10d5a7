import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { countAllocations, decisionRows, inSteadyState } from "../../bench/decision-rows.js";

const INSTRUMENTED = new URL("../../build/debug.wasm", import.meta.url).pathname;

// What the collector would have to look at later. Above all the happy path must have none, so that it never runs there.
test.each(decisionRows())("allocations of a request in steady state: $name", (row) => {
  const proxy = inSteadyState(new WebAssembly.Module(readFileSync(INSTRUMENTED)), row);
  expect(countAllocations(proxy).objects).toBe(row.allocations ?? 0);
});

test("an allocation is counted", () => {
  const row = decisionRows().find(({ name }) => name === "Audit, log");
  if (row === undefined) throw new Error("there is a row that allocates");
  const { objects, bytes } = countAllocations(inSteadyState(new WebAssembly.Module(readFileSync(INSTRUMENTED)), row));
  expect(objects).toBeGreaterThan(0);
  expect(bytes).toBeGreaterThan(objects * 20);
});
