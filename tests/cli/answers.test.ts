import { stringify } from "yaml";
import { expect, test } from "vitest";
import { lower } from "../../cli/lower.js";

const TYPE =
  "type.googleapis.com/envoy.extensions.router.cluster_specifiers.priority_group.v3.PriorityGroupClusterSpecifier";

/** A RouteConfiguration whose one route, of two groups a and b, has these settings and this retry policy. */
function config(settings: object, retryPolicy: object = {}, namespace?: string): string {
  const groups = ["a", "b"].map((name) => ({ name, clusters: [{ cluster_name: name, weight: 1 }] }));
  const override = namespace === undefined ? {} : { override_metadata_namespace: namespace };
  const typed_config = { "@type": TYPE, priority_groups: groups, ...override };
  const route = {
    inline_cluster_specifier_plugin: { extension: { name: "groups", typed_config } },
    retry_policy: { retry_on: "5xx", num_retries: 1, refresh_cluster_on_retry: true, ...retryPolicy },
  };
  const metadata = { filter_metadata: { attempt_router: settings } };
  const routes = [{ match: { prefix: "/" }, name: "r", metadata, route }];
  return stringify({ name: "rc", virtual_hosts: [{ name: "vh", domains: ["*"], routes }] });
}

const on = { statuses: [429] };

test.each<[object, string]>([
  [{ record_attempts: "some" }, "record_attempts: expected true or false"],
  [{ record_attempts: {} }, "record_attempts.response_header: expected a string that is not empty, found nothing"],
  [{ record_attempts: { response_header: "a b" } }, "record_attempts.response_header: expected a header name"],
  [{ record_attempts: { response_header: "x", more: 1 } }, "record_attempts.more: expected one of the fields"],
  [{ record_attempts: 1 }, "record_attempts: expected true or false"],
  [{ steps: { on: {}, next: "STOP" } }, "steps: expected a list"],
  [{ steps: [{ next: "STOP" }] }, "steps[0].on: expected what an answer must be like, found nothing"],
  [{ steps: [{ on: {}, next: "STOP" }] }, "steps[0].on: expected statuses, status_classes or response_headers"],
  [{ steps: [{ on }] }, "steps[0].next: expected a string that is not empty, found nothing"],
  [
    { steps: [{ on, next: "c" }] },
    'steps[0].next: expected one of NEXT, STAY, STOP, or the name of a group, found "c"',
  ],
  [{ steps: [{ on: { statuses: [99] }, next: "b" }] }, "steps[0].on.statuses[0]: expected a whole number from 100 to"],
  [{ steps: [{ on: { status_classes: ["6xx"] }, next: "b" }] }, "steps[0].on.status_classes[0]: expected one of 1xx"],
  [{ steps: [{ on: { response_headers: [{}] }, next: "b" }] }, "steps[0].on.response_headers[0].name: expected"],
  [{ min_attempt_time: 2 }, "min_attempt_time: expected a duration in seconds, like 0.25s, found 2"],
])("%j is refused with its place", (settings, message) => {
  expect(() => lower(config(settings), { file: "r.yaml" })).toThrow(message);
});

const steps = [{ on, next: "STOP" }];

test.each<[string, string, () => string]>([
  [
    "a route that does not refresh",
    "expected refresh_cluster_on_retry: true",
    () => config({ steps }, { refresh_cluster_on_retry: false }),
  ],
  [
    "a policy that retries marked answers",
    "expected no envoy-ratelimited in retry_on",
    () => config({ steps }, { retry_on: "5xx, envoy-ratelimited" }),
  ],
  [
    "the same with a deadline",
    "expected no envoy-ratelimited in retry_on",
    () => config({ min_attempt_time: "2s" }, { retry_on: "envoy-ratelimited" }),
  ],
  [
    "clusters chosen by header",
    "expected cluster_selection: MATCHER beside steps",
    () => config({ steps, cluster_selection: "HEADER" }, {}, "ns"),
  ],
])("steps are refused on %s", (_, message, text) => {
  expect(() => lower(text(), { file: "r.yaml" })).toThrow(message);
});

test("a route without these settings is lowered as before", () => {
  const plain = lower(config({}), { file: "r.yaml" }).text;
  expect(lower(config({ record_attempts: false }), { file: "r.yaml" }).text.replace(/@ar-[0-9a-f]+/g, "")).toContain(
    "wasm.attempt_router",
  );
  expect(plain).not.toContain("_ms");
});
