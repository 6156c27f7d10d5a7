// `cluster_selection: HEADER` on routes that specifiers change, on a real Envoy.

import { describe, expect, test } from "vitest";
import { envoyVersions } from "../../tools/envoy/binary.js";
import type { Config } from "../support/case.js";
import { group, lua, priorityGroups } from "../support/config.js";
import { run, specifier, UPSTREAMS } from "./specifier-runs.js";

const { versions } = await envoyVersions();
const NAMESPACE = "app";
const HEADER = { filter_metadata: { attempt_router: { cluster_selection: "HEADER" } } };
const RETRIES = { retry_on: "5xx", num_retries: 2, refresh_cluster_on_retry: true };
const CLUSTERS = { upstreams: { ...UPSTREAMS, bad: 503, worse: 503, worst: 503 } };
/** A client that would lead every attempt to `other`. */
const FORGED = {
  "x-envoy-attempt-count": "1",
  "x-attempt-router-first": "0",
  "x-attempt-router-cluster": "other",
  "x-attempt-router-cluster-1": "other",
  "x-attempt-router-cluster-2": "other",
  "x-attempt-router-cluster-3": "other",
};
/** Names the group by header. */
const chooses = lua(`function envoy_on_request(h)
  local group = h:headers():get("x-group")
  if group then h:streamInfo():dynamicMetadata():set("${NAMESPACE}", "priority_groups", {{name = group}}) end
end`);

const GROUPS = { g1: "bad", g2: "worse", g3: "worst" };
const action = (): Config => ({
  ...priorityGroups(
    Object.entries(GROUPS).map(([name, cluster]) => ({ ...group(cluster), name })),
    { override_metadata_namespace: NAMESPACE },
  ),
  retry_policy: RETRIES,
});
const route = (specifiers: Config[]): Config => ({
  match: { prefix: "/" },
  name: "r",
  metadata: HEADER,
  route: action(),
  route_specifiers: specifiers,
});
const template = (): Config =>
  specifier("RouteTemplate", {
    template_id: "t",
    templates: [{ template_id: "t", route: { match: { prefix: "/" }, name: "t", metadata: HEADER, route: action() } }],
  });

const SPECIFIED: Record<string, Config[]> = {
  "no specifier": [],
  "an override of the time-out": [specifier("RouteOverride", { timeout: "5s" })],
  "an override of the retries": [specifier("RouteOverride", { retry_policy: { retry_on: "5xx", num_retries: 2 } })],
  "a template": [template()],
  "a template and an override": [template(), specifier("RouteOverride", { timeout: "5s" })],
};

describe.each(versions)("Envoy %s: selection by header", (version) => {
  test.each(Object.entries(SPECIFIED))("reads the override metadata under %s", async (_, specifiers) => {
    const requests = [{}, { headers: { "x-group": "g2" } }, { headers: { "x-group": "g3" } }];
    const forged = requests.map(({ headers }) => ({ headers: { ...headers, ...FORGED } }));
    const more = { ...CLUSTERS, http_filters: [chooses] };
    const results = await run(version, { routes: [route(specifiers)] }, [...requests, ...forged], more);
    const chains = [
      ["bad", "worse", "worst"],
      ["worse", "worse", "worse"],
      ["worst", "worst", "worst"],
    ];
    expect(results.map(({ hops }) => hops)).toEqual([...chains, ...chains]);
  });
});
