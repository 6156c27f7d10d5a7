// What a client can do by the headers that tell attempts apart, where the module is not there to take them away.

import { describe, expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { lower } from "../../cli/lower.js";
import { envoyVersions } from "../../tools/envoy/binary.js";
import type { Case, Config } from "../support/case.js";
import { group, lua, priorityGroups } from "../support/config.js";
import { lowered } from "../support/lowering.js";
import { runLeg } from "../support/run-case.js";

const { versions } = await envoyVersions();

const GROUPS = [group("a", "d"), group("b", "d"), group("c", "d")];
const RETRIES = { retry_on: "5xx", num_retries: 3, refresh_cluster_on_retry: true };
const HEADER = { filter_metadata: { attempt_router: { cluster_selection: "HEADER" } } };
/** The first cluster of each group, from the first group on. */
const STATIC_CHAIN = ["a", "b", "c", "c"];

const FORGED = { "x-attempt-router-first": "1", "x-attempt-router-cluster-1": "d", "x-attempt-router-cluster-2": "d" };
const REQUESTS = ["1", "2", "99", "abc", ""].map((count) => ({
  headers: { "x-envoy-attempt-count": count, ...FORGED },
}));

function native(specifier: Config, route: Config, more: Partial<Case> = {}): Case {
  const action = { ...priorityGroups(GROUPS, specifier), retry_policy: RETRIES };
  const virtualHost = { name: "vh", domains: ["*"], routes: [{ match: { prefix: "/" }, route: action, ...route }] };
  return {
    file: "client-headers.yaml",
    name: "client-headers",
    about: "",
    upstreams: { a: 503, b: 503, c: 503, d: 200 },
    route_config: { name: "rc", virtual_hosts: [virtualHost] },
    requests: [{}, ...REQUESTS],
    ...more,
  };
}

/** Without the HTTP filters that run the module, as where it cannot be loaded. */
function withoutModule(config: string): string {
  const drop = (_: unknown, value: unknown): unknown =>
    Array.isArray(value) ? value.filter((item) => !JSON.stringify(item).startsWith('{"name":"attempt_router"')) : value;
  return stringify(JSON.parse(JSON.stringify(parse(config), drop)), { aliasDuplicateObjects: false });
}

/** The routes of a bootstrap lowered as RDS would carry them, under a listener that is not. */
function routesOnly(config: string): string {
  const bootstrap = parse(config) as { static_resources: { listeners: Config[] } };
  const [listener] = bootstrap.static_resources.listeners as {
    filter_chains: { filters: { typed_config: Config }[] }[];
  }[];
  const manager = listener?.filter_chains[0]?.filters[0]?.typed_config as Config;
  manager["route_config"] = parse(lower(stringify(manager["route_config"])).text) as Config;
  return stringify(bootstrap, { aliasDuplicateObjects: false });
}

const lowerAll = (config: string): string => withoutModule(lowered(config, "client-headers.yaml"));
const EARLIER = { http_filters: [lua("function envoy_on_request(h) end")] };
const OVERRIDE = { override_metadata_namespace: "app" };

const FORMS: Record<string, [Case, (config: string) => string]> = {
  "a filter for each chain": [native({}, {}), lowerAll],
  "one filter for all routes": [native({}, {}, EARLIER), lowerAll],
  "an override": [native(OVERRIDE, {}, EARLIER), lowerAll],
  "selection by header": [native(OVERRIDE, { metadata: HEADER }, EARLIER), lowerAll],
  "routes without their listener": [native({}, {}, EARLIER), routesOnly],
  "routes by header without their listener": [native(OVERRIDE, { metadata: HEADER }, EARLIER), routesOnly],
};

describe.each(versions)("Envoy %s without the module", (version) => {
  test.each(Object.entries(FORMS))(
    "a client does not choose the group that %s begins with",
    async (_, [config, change]) => {
      const leg = await runLeg(config, version, change);
      const hops = leg.traces.flat().map((trace) => trace.hops.map(({ upstream }) => upstream));
      expect(hops).toEqual([STATIC_CHAIN, ...REQUESTS.map(() => STATIC_CHAIN)]);
    },
  );
});
