import { expect, test } from "vitest";
import { generateWorld } from "./generate.js";
import { runChains } from "./run.js";

const CHAINS = 120;

test("random chains of specifiers do what the specification says, on every version", async () => {
  const { chains, requests, refused, failures } = await runChains({ chains: CHAINS, seed: 20261206 });
  expect(failures).toEqual([]);
  expect(chains).toBeGreaterThanOrEqual(CHAINS);
  expect(requests).toBeGreaterThanOrEqual(CHAINS * 8);
  // What is left of a template whose match only Envoy can evaluate.
  const other = Object.keys(refused).filter(
    (reason) => !reason.startsWith("expected a match that the module can evaluate"),
  );
  expect(other).toEqual([]);
});

test("equal seeds give equal chains, and other ones others", () => {
  expect(generateWorld(7)).toEqual(generateWorld(7));
  expect(generateWorld(7)).not.toEqual(generateWorld(8));
});
