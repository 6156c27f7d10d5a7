// The proxy may refuse any call, with any status. Nothing of that may end the module, which would end requests of others.

import { expect, test } from "vitest";
import { WasmHost, type RequestSpec } from "../../cli/host/index.js";
import { WasmResult } from "../../cli/host/abi.js";
import { REQUESTS } from "./requests.js";
import { groupOf, MODULE, routeWith, settingsOf } from "./routes.js";

const FAULTS = Object.values(WasmResult).filter((result) => result !== WasmResult.Ok);
const module = WasmHost.load(MODULE);
const PICKS_SECOND = {
  ...routeWith(settingsOf([groupOf(1, 1)], { header_name: "x-pick" })),
  headers: { "x-pick": "1" },
};
const SLOTS = ["SLOT_PER_ATTEMPT", "ONE_SLOT", "HEADERS"].map((slot_form) => {
  const settings = settingsOf([groupOf(1, 1), groupOf(1, 1)], { header_name: "x-pick" }, { slot_form, pin: true });
  return [`slots: ${slot_form}`, { ...routeWith(settings), headers: { "x-pick": "1" } }] as const;
});

test.each([...Object.entries(REQUESTS), ...SLOTS])("every host call of a request fails in turn: %s", (_, spec) => {
  const all = callsOf(spec, () => undefined);
  expect(all).toBeGreaterThan(0);
  for (let failing = 0; failing < all; failing++) {
    for (const fault of FAULTS) {
      callsOf(spec, (call) => (call === failing ? fault : undefined));
      expect(module.failure).toBeUndefined();
    }
  }
  // And everything at once, then nothing: the module still works.
  for (const fault of FAULTS) callsOf(spec, () => fault);
  const after = module.request(PICKS_SECOND);
  expect(after.slots).toEqual({ "1": "c1" });
  after.end();
});

/** Serves a request with a retry; returns the number of its host calls. */
function callsOf(spec: RequestSpec, faultOf: (call: number) => WasmResult | undefined): number {
  let calls = 0;
  module.faults = () => faultOf(calls++);
  const request = module.request(spec);
  request.attempt(1, { response: { status: 503 } });
  request.respond({ status: 200 });
  request.end();
  module.faults = undefined;
  module.logs.length = 0;
  return calls;
}
