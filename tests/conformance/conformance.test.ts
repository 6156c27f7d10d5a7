import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, test, vi } from "vitest";
import { loadCases, type Case } from "../support/case.js";
import { cannotLower, lowered } from "../support/lowering.js";
import { comparableTraces, runLeg, type LegResult } from "../support/run-case.js";

const { oracle, versions } = JSON.parse(
  readFileSync(new URL("../../tools/envoy/versions.json", import.meta.url), "utf8"),
) as { oracle: string; versions: string[] };

// Two cores: more Envoys at a time would only stretch the time-outs the cases are about.
vi.setConfig({ maxConcurrency: 2 });

const cases = loadCases(fileURLToPath(new URL("cases", import.meta.url)));
const unlowered = cannotLower();

describe.concurrent.each(cases)("$name", (testCase) => {
  let native: Promise<LegResult> | undefined;
  const oracleLeg = () => (native ??= runLeg(testCase, oracle));

  test(`native ${oracle}`, async () => {
    const result = await oracleLeg();
    report(result, () => expectRecorded(testCase, result));
  });

  for (const version of testCase.versions ?? versions) {
    test.skipIf(testCase.native_only !== undefined || unlowered !== undefined)(`lowered ${version}`, async () => {
      const result = await runLeg(testCase, version, (text) => lowered(text, testCase.file));
      const reference = await oracleLeg();
      report(result, () => {
        expectRecorded(testCase, result);
        expect(comparableTraces(testCase, result)).toEqual(comparableTraces(testCase, reference));
      });
    });
  }
});

function expectRecorded(testCase: Case, result: LegResult): void {
  expect(result.expect).toEqual(testCase.expect);
  expect(result.stats).toEqual(testCase.expect_stats ?? {});
}

/** Runs `check`; on failure prints what Envoy logged, and with $SHOW_CONFIG the configuration it ran. */
function report(result: LegResult, check: () => void): void {
  try {
    check();
  } catch (error) {
    if (result.log !== "") console.error(result.log);
    if (process.env["SHOW_CONFIG"] !== undefined) console.error(result.config);
    throw error;
  }
}
