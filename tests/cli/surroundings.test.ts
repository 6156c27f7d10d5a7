// What stands around a route decides how it is lowered: every connection manager that takes it, every cluster it leads to.

import { expect, test } from "vitest";
import { parse } from "yaml";
import { lower, type LowerOptions } from "../../cli/lower.js";
import { TYPE } from "../../cli/lower/types.js";
import type { Config } from "../support/case.js";
import { group, lua, priorityGroups, setMetadata } from "../support/config.js";

const ROUTER = { name: "router", typed_config: { "@type": TYPE.router } };
const CODEC = { name: "codec", typed_config: { "@type": TYPE.upstreamCodec } };
const RETRY = { retry_policy: { retry_on: "5xx", num_retries: 2 } };
const CHAIN = {
  match: { prefix: "/" },
  name: "chain",
  route: { ...priorityGroups([group("a", "b"), group("c")]), ...RETRY },
};
const OVERRIDDEN = {
  ...CHAIN,
  route: { ...priorityGroups([group("a", "b")], { override_metadata_namespace: "n" }), ...RETRY },
};
const PROTOCOL_OPTIONS = "type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions";
const LISTENER = "type.googleapis.com/envoy.config.listener.v3.Listener";
const ROUTES = "type.googleapis.com/envoy.config.route.v3.RouteConfiguration";

interface Output {
  resources: Config[];
}

function lowered(resources: object[], options: LowerOptions = {}) {
  const { text, report } = lower(JSON.stringify({ resources }), { file: "in.json", validator: () => [], ...options });
  return { output: parse(text) as Output, report };
}

/** A listener whose connection manager takes the routes `r` over RDS. */
function listener(name: string, http_filters: object[] = [ROUTER]): object {
  const rds = { route_config_name: "r", config_source: { ads: {}, resource_api_version: "V3" } };
  const typed_config = { "@type": TYPE.connectionManager, stat_prefix: name, rds, http_filters };
  return { "@type": LISTENER, name, filter_chains: [{ filters: [{ name: "hcm", typed_config }] }] };
}

function routes(...all: object[]): object {
  return { "@type": ROUTES, name: "r", virtual_hosts: [{ name: "all", domains: ["*"], routes: all }] };
}

function routerWith(...upstream_http_filters: object[]): object {
  return { ...ROUTER, typed_config: { ...ROUTER.typed_config, upstream_http_filters } };
}

function cluster(name: string, ...http_filters: object[]): object {
  const options = { "@type": PROTOCOL_OPTIONS, http_filters };
  const typed_extension_protocol_options = { [PROTOCOL_OPTIONS.split("/")[1] ?? ""]: options };
  const own = http_filters.length > 0 ? { typed_extension_protocol_options } : {};
  return { "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", name, connect_timeout: "1s", ...own };
}

/** A list of two, either way round. */
function bothWays<T>(one: T, other: T): [T, T][] {
  return [
    [one, other],
    [other, one],
  ];
}

const MOVING = [lua("function envoy_on_request(h) h:clearRouteCache() end"), ROUTER];
const COUNTER = lua('function envoy_on_request(h) h:headers():remove("x-envoy-attempt-count") end');
const COUNTING = [routerWith(COUNTER, CODEC)];
const WRITING = [routerWith(setMetadata("n", {}), CODEC)];

test("no connection manager asks for more than another by itself", () => {
  const { report } = lowered([listener("one"), listener("two"), routes(CHAIN)]);
  expect(report.routes.map(({ form }) => form)).toEqual(["slots"]);
});

test.each(bothWays(MOVING, [ROUTER]))(
  "a route is pinned where one of two connection managers needs it: %#",
  (...both) => {
    const { output } = lowered([...both.map((filters, i) => listener(`l${i}`, filters)), routes(CHAIN)]);
    expect(JSON.stringify(output)).toContain("wasm.attempt_router.route");
    const without = lowered([listener("one"), listener("two"), routes(CHAIN)]);
    expect(JSON.stringify(without.output)).not.toContain("wasm.attempt_router.route");
  },
);

test.each(bothWays(COUNTING, [ROUTER]))(
  "a route has one slot where one of two changes the attempt count: %#",
  (...both) => {
    const { report } = lowered([...both.map((filters, i) => listener(`l${i}`, filters)), routes(CHAIN)]);
    expect(report.routes.map(({ form }) => form)).toEqual(["one slot"]);
  },
);

test.each(bothWays(WRITING, [ROUTER]))(
  "an override is read again where one of two writes metadata upstream: %#",
  (...both) => {
    const { report } = lowered([...both.map((filters, i) => listener(`l${i}`, filters)), routes(OVERRIDDEN)]);
    expect(report.connection_managers.map(({ upstream_filters }) => upstream_filters.length)).toEqual([2, 2]);
  },
);

test.each(["a", "b", "c"])("a route has one slot where the filters of cluster %s change the attempt count", (name) => {
  const clusters = ["a", "b", "c", "d"].map((one) => cluster(one, ...(one === name ? [COUNTER, CODEC] : [])));
  const { report } = lowered([listener("one"), routes(CHAIN), ...clusters]);
  expect(report.routes.map(({ form }) => form)).toEqual(["one slot"]);
  const other = lowered([listener("one"), routes(CHAIN), cluster("d", COUNTER, CODEC)]);
  expect(other.report.routes.map(({ form }) => form)).toEqual(["slots"]);
});

test.each(bothWays(OVERRIDDEN, CHAIN))(
  "the role is around a cluster's filters where one route needs that: %#",
  (...both) => {
    const managers = both.map((route, i) => {
      const route_config = { name: `r${i}`, virtual_hosts: [{ name: "all", domains: ["*"], routes: [route] }] };
      const http_filters = route === CHAIN ? COUNTING : [ROUTER];
      const typed_config = { "@type": TYPE.connectionManager, stat_prefix: "s", route_config, http_filters };
      return { "@type": LISTENER, name: `l${i}`, filter_chains: [{ filters: [{ name: "hcm", typed_config }] }] };
    });
    const { output } = lowered([...managers, cluster("a", setMetadata("n", {}), CODEC)]);
    expect(filtersOf(output.resources.at(-1))).toEqual([ROLE, "envoy.filters.http.set_metadata", ROLE, "codec"]);
  },
);

test("a listener whose routes come over RDS has the upstream role only without the attempt count", () => {
  const upstream = (options: LowerOptions) => {
    const { output, report } = lowered([listener("one"), cluster("a", COUNTER, CODEC)], options);
    const [manager] = report.connection_managers;
    return [manager?.filters ?? [], manager?.upstream_filters ?? [], filtersOf(output.resources.at(-1))];
  };
  const own = ["envoy.filters.http.lua", "codec"];
  expect(upstream({})).toEqual([[], [], own]);
  expect(upstream({ attemptHeader: false })).toEqual([[], [], own]);
  expect(upstream({ rds: true })).toEqual([["attempt_router"], [], own]);
  expect(upstream({ rds: true, attemptHeader: false })).toEqual([["attempt_router"], [ROLE], [ROLE, ...own]]);
});

test("clusters by themselves have the upstream role where any route may need it", () => {
  const filters = (options: LowerOptions) =>
    filtersOf(lowered([cluster("a", COUNTER, CODEC)], options).output.resources[0]);
  const own = ["envoy.filters.http.lua", "codec"];
  for (const options of [{}, { rds: true }, { attemptHeader: false }]) expect(filters(options)).toEqual(own);
  expect(filters({ rds: true, attemptHeader: false })).toEqual([ROLE, ...own]);
});

test("a list of allowed routes names each lowered route once, however often it is lowered", () => {
  const type = "type.googleapis.com/envoy.extensions.internal_redirect.allow_listed_routes.v3.AllowListedRoutesConfig";
  const typed_config = { "@type": type, allowed_route_names: ["chain", "plain", "chain"] };
  const predicates = [{ name: "envoy.internal_redirect_predicates.allow_listed_routes", typed_config }];
  const plain = {
    match: { path: "/" },
    name: "plain",
    route: { cluster: "a", internal_redirect_policy: { predicates } },
  };
  const first = lowered([listener("one"), routes(plain, CHAIN)]);
  const names = allowed(first.output);
  expect(names).toEqual(["chain", "plain", "chain", expect.stringMatching(/^chain@ar-[0-9a-f]{32}$/)]);
  // A file that was lowered before, with a route that was not.
  const [before, after] = first.output.resources;
  const [host] = after?.["virtual_hosts"] as { routes: object[] }[];
  host?.routes.unshift({ ...CHAIN, match: { path: "/new" }, name: "new" });
  expect(allowed(lowered([before ?? {}, after ?? {}]).output)).toEqual(names);
});

const ROLE = "attempt_router_upstream";

function filtersOf(resource: Config | undefined): string[] {
  const options = Object.values((resource?.["typed_extension_protocol_options"] ?? {}) as Config);
  return options.flatMap((one) => ((one as Config)["http_filters"] as { name: string }[]).map(({ name }) => name));
}

function allowed(output: Output): unknown {
  return /"allowed_route_names":(\[[^\]]*\])/
    .exec(JSON.stringify(output))
    ?.slice(1)
    .map((list) => JSON.parse(list) as unknown)[0];
}
