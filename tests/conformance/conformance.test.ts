import { readFileSync } from "node:fs";
import { describe, expect, test, vi } from "vitest";
import { InputError } from "../../cli/findings.js";
import { loadCases, type Case } from "../support/case.js";
import { lowered } from "../support/lowering.js";
import { comparableTraces, runLeg, type LegResult } from "../support/run-case.js";

const { oracle, versions } = JSON.parse(
  readFileSync(new URL("../../tools/envoy/versions.json", import.meta.url), "utf8"),
) as { oracle: string; versions: string[] };

// Two cores: more Envoys at a time would only stretch the time-outs the cases are about.
vi.setConfig({ maxConcurrency: 2 });

const cases = loadCases();

describe.concurrent.each(cases)("$name", (testCase) => {
  let native: Promise<LegResult> | undefined;
  const oracleLeg = () => (native ??= runLeg(testCase, oracle));

  test(`native ${oracle}`, async () => {
    const result = await oracleLeg();
    report(result, () => expectRecorded(testCase, result));
  });

  for (const version of versionsOf(testCase)) {
    test(`lowered ${version}`, async () => {
      const leg = runLeg(testCase, version, (text) => lowered(text, testCase.file, testCase.lower));
      if (testCase.lowering_error !== undefined) {
        const error = await leg.catch((thrown: unknown) => thrown);
        expect(error).toBeInstanceOf(InputError);
        expect((error as InputError).message).toContain(testCase.lowering_error);
        return;
      }
      const [result, reference] = await Promise.all([leg, oracleLeg()]);
      report(result, () => expectEqualTo(reference, testCase, result));
    });
  }
});

/** The versions of the lowered legs: all, or those of the minor versions that the case names. */
function versionsOf(testCase: Case): string[] {
  const minors = testCase.versions;
  return minors === undefined
    ? versions
    : versions.filter((version) => minors.some((minor) => version.startsWith(`${minor}.`)));
}

/** The lowered leg must do what was recorded from native Envoy and, in all its traces, what native Envoy did just now. */
function expectEqualTo(reference: LegResult, testCase: Case, result: LegResult): void {
  if (testCase.deviation !== undefined) {
    expect(result.expect).toEqual(testCase.lowered_expect);
    return;
  }
  expectRecorded(testCase, result);
  expect(comparableTraces(testCase, result)).toEqual(comparableTraces(testCase, reference));
}

function expectRecorded(testCase: Case, result: LegResult): void {
  expect(result.expect).toEqual(testCase.expect);
  expect(result.stats).toEqual(testCase.expect_stats ?? {});
}

/** Runs `check`; on failure prints what Envoy logged, and with $SHOW_CONFIG the configuration it ran. */
function report(result: LegResult, check: () => void): void {
  try {
    check();
  } catch (error) {
    process.stderr.write(result.log);
    if (process.env["SHOW_CONFIG"] !== undefined) process.stderr.write(result.config);
    throw error;
  }
}
