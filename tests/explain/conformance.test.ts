import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { ModulePicks } from "../../cli/explain/module-picks.js";
import { loadCases, type Outcome } from "../support/case.js";
import { WASM } from "../support/lowering.js";
import { answersOf, explainRequest, notAsked, programOfCase } from "./conformance.js";

let module: ModulePicks;

beforeAll(() => {
  module = new ModulePicks(readFileSync(WASM));
});

const cases = loadCases();
const asked = cases.filter((one) => notAsked(one) === undefined);
/** Attempts that no upstream sees. */
const UNSEEN: (string | number | null)[] = ["no host", "no cluster", "overflow", "refused"];

describe("what explain predicts is what native Envoy did", () => {
  test.each(asked)("$name", (testCase) => {
    const program = programOfCase(testCase);
    const answers = answersOf(testCase);
    const outcomes = testCase.requests.flatMap((request) =>
      Array.from({ length: request.repeat ?? 1 }, () => {
        const { attempts, result } = explainRequest(program, testCase, request, answers, module);
        const hops = attempts.filter(({ answer }) => !UNSEEN.includes(answer)).map(({ cluster }) => cluster);
        return { status: result.status, hops };
      }),
    );
    expect(outcomes).toEqual(recorded(testCase));
  });
});

test.skipIf(process.env["CASE"] !== undefined)("most cases are asked", () => {
  expect(asked.length).toBeGreaterThan(200);
});

function recorded({ expect: list, requests }: (typeof cases)[number]): Pick<Outcome, "status" | "hops">[] {
  if (!Array.isArray(list)) return [];
  return list.flatMap((one, index) => {
    const each = "each" in one ? one.each : Array.from({ length: requests[index]?.repeat ?? 1 }, () => one as Outcome);
    return each.map(({ status, hops }) => ({ status, hops }));
  });
}
