// What `lower` says of settings about picks.

import { stringify } from "yaml";
import { describe, expect, test } from "vitest";
import { lower } from "../../cli/lower.js";

const TYPE =
  "type.googleapis.com/envoy.extensions.router.cluster_specifiers.priority_group.v3.PriorityGroupClusterSpecifier";
const KEYED = { header_name: "x-key" };
const AVOID = { avoid_tried_clusters: true };
const RENDEZVOUS = { pick: "RENDEZVOUS" };

interface Parts {
  settings?: object;
  host?: object;
  specifier?: object;
  clusters?: string[];
  retries?: object;
  more?: object;
}

/** A RouteConfiguration whose one route has one group. */
function config({ settings, host, specifier, clusters = ["a", "b"], retries, more }: Parts): string {
  const group = { name: "g", clusters: clusters.map((cluster_name) => ({ cluster_name, weight: 1 })) };
  const typed_config = { "@type": TYPE, priority_groups: [group], ...specifier };
  const route = {
    inline_cluster_specifier_plugin: { extension: { name: "groups", typed_config } },
    retry_policy: { retry_on: "5xx", num_retries: 3, refresh_cluster_on_retry: true, ...retries },
  };
  const of = (value: object | undefined) => value && { metadata: { filter_metadata: { attempt_router: value } } };
  const routes = [{ match: { prefix: "/" }, name: "r", ...of(settings), route, ...more }];
  return stringify({ name: "rc", virtual_hosts: [{ name: "vh", domains: ["*"], ...of(host), routes }] });
}

const text = (parts: Parts) => lower(config(parts), { file: "r.yaml" }).text;

describe("what is refused", () => {
  test.each<[string, Parts]>([
    ["avoid_tried_clusters: expected true or false", { settings: { avoid_tried_clusters: "some" } }],
    ["pick: expected one of WEIGHTED, RENDEZVOUS", { settings: { pick: "MAGLEV" } }],
    ["pick: expected header_name or use_hash_policy in the specifier", { settings: RENDEZVOUS }],
    ["pick: expected header_name or use_hash_policy in the specifier", { host: RENDEZVOUS }],
    [
      "pick: expected header_name or use_hash_policy in the specifier",
      { settings: RENDEZVOUS, specifier: { use_hash_policy: false } },
    ],
    ["expected refresh_cluster_on_retry: true", { settings: AVOID, retries: { refresh_cluster_on_retry: false } }],
    [
      "expected cluster_selection: MATCHER beside avoid_tried_clusters",
      { settings: { ...AVOID, cluster_selection: "HEADER" }, specifier: { override_metadata_namespace: "ns" } },
    ],
    [
      "expected x-envoy-attempt-count as Envoy writes it beside avoid_tried_clusters",
      { settings: AVOID, more: { request_headers_to_remove: ["x-envoy-attempt-count"] } },
    ],
  ])("%s", (message, parts) => {
    expect(() => text(parts)).toThrow(message);
  });
});

describe("slots", () => {
  const slots = (parts: Parts) => /slots: (\d+)/.exec(text(parts))?.[1];

  test("there is one for each attempt where the picks of one group hang on each other", () => {
    expect(slots({ settings: AVOID })).toBe("4");
    expect(slots({ settings: AVOID, retries: { num_retries: 9 } })).toBe("10");
  });

  test("else one for each group is enough", () => {
    expect(slots({ settings: {} })).toBe("1");
    expect(slots({ settings: RENDEZVOUS, specifier: KEYED })).toBe("1");
    expect(text({ settings: AVOID, clusters: ["a"] })).not.toContain("x-envoy-attempt-count");
  });
});

test("what a virtual host says counts for its routes, and a route may say otherwise", () => {
  expect(text({ host: AVOID })).toMatch(/slots: 4/);
  expect(text({ host: AVOID, settings: { avoid_tried_clusters: false } })).toMatch(/slots: 1/);
  expect(text({ host: RENDEZVOUS, specifier: KEYED })).toContain("pick: RENDEZVOUS");
  expect(text({ host: RENDEZVOUS, settings: { pick: "WEIGHTED" } })).toContain("pick: WEIGHTED");
});
