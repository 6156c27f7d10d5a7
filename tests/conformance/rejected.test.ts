import { expect, test } from "vitest";
import { InputError } from "../../cli/findings.js";
import { envoyVersions } from "../../tools/envoy/binary.js";
import type { Case } from "../support/case.js";
import { runLeg } from "../support/run-case.js";

const { oracle } = await envoyVersions();

/** A case whose configuration Envoy starts with. */
const LEGAL: Case = { file: "", name: "legal", about: "", upstreams: {}, requests: [], expect: "rejected" };

test("a crash of `lower` does not pass for a refusal", async () => {
  const crash = () => {
    throw new TypeError("a defect");
  };
  await expect(runLeg(LEGAL, oracle, crash)).rejects.toThrow("a defect");
});

test("nor does output that Envoy refuses, or a configuration that it starts with", async () => {
  await expect(runLeg(LEGAL, oracle, (text) => `${text}nonsense: 1\n`)).rejects.toMatchObject({ refused: true });
  expect((await runLeg({ ...LEGAL, route_config: { name: "empty" } }, oracle)).expect).toEqual([]);
});

test("an InputError does", async () => {
  const refuse = () => {
    throw new InputError([{ file: "", line: 1, col: 1, path: "", message: "" }]);
  };
  expect((await runLeg(LEGAL, oracle, refuse)).expect).toBe("rejected");
});
