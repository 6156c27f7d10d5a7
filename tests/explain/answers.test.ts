// What settings about the answers of attempts do, as explain tells it.

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { stringify } from "yaml";
import { explain } from "../../cli/explain/explain.js";
import type { Explanation } from "../../cli/explain/explanation.js";
import { ModulePicks } from "../../cli/explain/module-picks.js";
import { inOrder, response, type Answer } from "../../cli/explain/request.js";
import { FOR_LOWER_ALONE } from "../../cli/lower/override.js";
import { readProgram } from "../../cli/read/program.js";
import { WASM } from "../support/lowering.js";

const module = new ModulePicks(readFileSync(WASM));

interface Setup {
  own?: object;
  ofHost?: object;
  groups?: string[][];
}

function ask({ own = {}, ofHost = {}, groups = [["a"], ["b"], ["c"]] }: Setup, ...answers: Answer[]): Explanation {
  const metadata = (attempt_router: object) => ({ metadata: { filter_metadata: { attempt_router } } });
  const typed_config = {
    "@type":
      "type.googleapis.com/envoy.extensions.router.cluster_specifiers.priority_group.v3.PriorityGroupClusterSpecifier",
    priority_groups: groups.map((names) => ({
      name: `of_${names[0]}`,
      clusters: names.map((cluster_name) => ({ cluster_name, weight: 1 })),
    })),
  };
  const retry_policy = {
    retry_on: "5xx,retriable-status-codes",
    retriable_status_codes: [401],
    num_retries: 2,
    per_try_timeout: "4s",
    refresh_cluster_on_retry: true,
  };
  const action = { inline_cluster_specifier_plugin: { extension: { name: "p", typed_config } }, retry_policy };
  const route = { match: { prefix: "/" }, ...metadata(own), route: { ...action, timeout: "10s" } };
  const text = stringify({
    name: "rc",
    virtual_hosts: [{ name: "v", domains: ["*"], ...metadata(ofHost), routes: [route] }],
  });
  const request = { method: "GET", path: "/", authority: "x", scheme: "http", headers: [], metadata: {} };
  const question = { request: { ...request, client: "127.0.0.1", random: undefined }, answers: inOrder(answers) };
  return explain(readProgram("f.yaml", text), question, module);
}

const clusters = ({ attempts }: Explanation): unknown[] => attempts.map(({ cluster }) => cluster);
const step = (status: number, next: string): object => ({ steps: [{ on: { statuses: [status] }, next }] });

test("a step leads to the group that it names, which is the attempt's", () => {
  const told = ask({ own: step(401, "of_c") }, response(401), response(503));
  expect(clusters(told)).toEqual(["a", "c", "c"]);
  expect(told.attempts.map(({ group }) => group)).toEqual(["of_a", "of_c", "of_c"]);
});

test("STAY is the same group again", () => {
  const told = ask({ own: step(503, "STAY") }, response(503), response(500), response(500));
  expect(told.attempts.map(({ group, cluster }) => [group, cluster])).toEqual([
    ["of_a", "a"],
    ["of_a", "a"],
    ["of_b", "b"],
  ]);
});

test("STOP ends the request although the policy has a retry", () => {
  const { attempts, result } = ask({ own: step(503, "STOP") }, response(503));
  expect(attempts).toMatchObject([{ cluster: "a", answer: 503, next: "end" }]);
  expect(result).toMatchObject({
    status: 503,
    because: "steps or min_attempt_time say that no attempt follows this answer",
  });
});

test("a mark that the provider itself sent is said to be the provider's", () => {
  const { result } = ask({ own: step(401, "of_c") }, response(503, { "x-envoy-ratelimited": "true" }));
  expect(result.because).toBe("the answer carries x-envoy-ratelimited");
});

test("settings of the virtual host count, and the route's replace them", () => {
  expect(clusters(ask({ ofHost: step(503, "of_c") }, response(503), response(200)))).toEqual(["a", "c"]);
  expect(clusters(ask({ ofHost: step(503, "of_c"), own: step(503, "STOP") }, response(503)))).toEqual(["a"]);
});

test("min_attempt_time counts what attempts took", () => {
  const own = { min_attempt_time: "7s" };
  expect(clusters(ask({ own }, response(503)))).toEqual(["a", "b", "c"]);
  // After the time-out 6 s of 10 are left.
  expect(clusters(ask({ own }, { kind: "timeout" }, response(503)))).toEqual(["a", "b"]);
});

test.each(FOR_LOWER_ALONE)("%s leaves the picks as they are", (name) => {
  const groups = [["a", "b"], ["c"]];
  const values: Record<string, unknown> = {
    allowed_clusters: ["a"],
    cluster_selection: "MATCHER",
    hold_response: { presets: ["openai_chat"] },
  };
  const told = ask({ groups, own: { [name]: values[name] } }, response(200));
  expect(told.attempts[0]?.candidates).toEqual([
    { cluster: "a", probability: 0.5 },
    { cluster: "b", probability: 0.5 },
  ]);
});
