import { describe, expect, test } from "vitest";
import { InputError } from "../../cli/findings.js";
import { managersOf, routeConfigurationsOf, type Program, type Route } from "../../cli/model/index.js";
import { readProgram } from "../../cli/read/program.js";
import { fixtures } from "./support.js";

const TYPE = "type.googleapis.com/envoy";
const GROUPS = `${TYPE}.extensions.router.cluster_specifiers.priority_group.v3.PriorityGroupClusterSpecifier`;

/** A RouteConfiguration with these routes, the first of which starts on line 3. */
function routesOf(routes: string, virtualHost = ""): Route[] {
  const text = `{virtual_hosts: [{name: v, domains: [x.test]${virtualHost},\n  routes: [\n${routes}]}]}\n`;
  return virtualHostsOf(readProgram("in.yaml", text)).flatMap((host) => host.routes);
}

function virtualHostsOf(program: Program) {
  return routeConfigurationsOf(program).flatMap((config) => config.virtualHosts);
}

/** The model as plain values, without origins. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (key, item: unknown) => (key === "origin" ? undefined : item)));
}

test("a value knows where it stands", () => {
  const [route] = routesOf("{name: r, match: {prefix: /a}, route: {cluster: c, timeout: 2.5s}}");
  expect(route?.name).toMatchObject({ value: "r" });
  const action = route?.action.kind === "route" ? route.action.route : undefined;
  expect(action?.timeout?.value).toBe(2500);
  expect(plainOrigin(action?.timeout)).toEqual({
    file: "in.yaml",
    line: 3,
    column: 61,
    path: "virtual_hosts[0].routes[0].route.timeout",
  });
});

describe("matches of paths", () => {
  test.each([
    ["{prefix: /a}", { type: "prefix", text: "/a", caseSensitive: true }],
    ["{path: /a, case_sensitive: false}", { type: "path", text: "/a", caseSensitive: false }],
    ["{pathSeparatedPrefix: /a}", { type: "path_separated_prefix", text: "/a", caseSensitive: true }],
    ["{safe_regex: {regex: /a.*}}", { type: "safe_regex", text: "/a.*", caseSensitive: true }],
    ["{connect_matcher: {}}", { type: "connect_matcher" }],
    [
      '{path_match_policy: {name: t, typed_config: {path_template: "/{a}"}}}',
      { type: "path_match_policy", template: "/{a}" },
    ],
  ])("%s", (match, expected) => {
    const [route] = routesOf(`{match: ${match}, route: {cluster: c}}`);
    expect(route?.match.path).toMatchObject(expected);
  });
});

describe("matches of what is not the path", () => {
  test.each([
    [
      "headers: [{name: h, string_match: {prefix: p, ignore_case: true}, invert_match: true}]",
      {
        headers: [
          {
            name: "h",
            test: { type: "string", match: { type: "prefix", text: "p", ignoreCase: true } },
            invert: true,
            treatMissingAsEmpty: false,
          },
        ],
      },
    ],
    [
      "headers: [{name: h, exact_match: p}]",
      {
        headers: [
          {
            name: "h",
            test: { type: "string", match: { type: "exact", text: "p", ignoreCase: false } },
            invert: false,
            treatMissingAsEmpty: false,
          },
        ],
      },
    ],
    ["headers: [{name: h}]", { headers: [{ name: "h", test: { type: "present", present: true } }] }],
    ["headers: [{name: h, present_match: false}]", { headers: [{ test: { type: "present", present: false } }] }],
    [
      "headers: [{name: h, range_match: {start: 1, end: '5'}}]",
      { headers: [{ test: { type: "range", start: 1, end: 5 } }] },
    ],
    [
      "query_parameters: [{name: q, string_match: {safe_regex: {regex: x+}}}]",
      {
        queryParameters: [{ name: "q", test: { type: "string", match: { type: "regex", text: "x+" } } }],
      },
    ],
    ["cookies: [{name: k, string_match: {exact: v}}]", { cookies: [{ name: "k", test: { match: { text: "v" } } }] }],
    ["grpc: {}", { grpc: true }],
    ["tls_context: {validated: false}", { tls: { validated: false } }],
    [
      "runtime_fraction: {default_value: {numerator: 5, denominator: MILLION}, runtime_key: k}",
      {
        runtimeFraction: { numerator: 5, denominator: 1_000_000, runtimeKey: { value: "k" } },
      },
    ],
    [
      "dynamic_metadata: [{filter: f, path: [{key: a}, {key: b}], value: {string_match: {exact: v}}}]",
      {
        dynamicMetadata: [
          { filter: "f", path: ["a", "b"], value: { type: "string", match: { text: "v" } }, invert: false },
        ],
      },
    ],
    [
      "dynamic_metadata: [{filter: f, path: [{key: a}], value: {list_match: {one_of: {double_match: {exact: 2}}}}}]",
      {
        dynamicMetadata: [{ value: { type: "list", item: { type: "number", exact: 2 } } }],
      },
    ],
    ["filter_state: [{key: k, string_match: {exact: v}}]", { filterState: [{ key: "k", match: { text: "v" } }] }],
    ["some_new_field: {a: 1}", { others: [{ value: { a: 1 } }] }],
  ])("%s", (field, expected) => {
    const [route] = routesOf(`{match: {prefix: /, ${field}}, route: {cluster: c}}`);
    expect(plain(route?.match)).toMatchObject(expected);
  });
});

describe("how a route finds its cluster", () => {
  test.each([
    ["{cluster: c}", { kind: "cluster", cluster: { value: "c" } }],
    ["{cluster_header: h}", { kind: "cluster_header", header: { value: "h" } }],
    [
      "{weighted_clusters: {clusters: [{name: a, weight: 3}]}}",
      {
        kind: "weighted_clusters",
        clusters: [{ name: { value: "a" }, weight: 3 }],
      },
    ],
    [
      `{inline_cluster_specifier_plugin: {extension: {name: e, typed_config: {"@type": other}}}}`,
      {
        kind: "specifier",
        type: "other",
      },
    ],
    [
      `{inline_cluster_specifier_plugin: {extension: {name: e, typed_config: {"@type": ${GROUPS}}}}}`,
      { kind: "attempts" },
    ],
  ])("%s", (action, expected) => {
    const [route] = routesOf(`{match: {prefix: /}, route: ${action}}`);
    expect(route?.action.kind === "route" && plain(route.action.route.destination)).toMatchObject(expected);
  });
});

test("actions that do not forward have no retries", () => {
  const routes = routesOf(
    "{match: {prefix: /}, redirect: {path_redirect: /x}}, {match: {prefix: /}, direct_response: {status: 204}}, {match: {prefix: /}}",
  );
  expect(routes.map(({ action }) => action.kind)).toEqual(["redirect", "direct_response", "none"]);
  expect(routes.map(({ retries }) => retries)).toEqual([undefined, undefined, undefined]);
});

describe("retries", () => {
  const policy = "retry_policy: {retry_on: '5xx, reset', num_retries: 3, refresh_cluster_on_retry: true}";

  test("the route's policy hides its virtual host's", () => {
    const [route] = routesOf(
      "{match: {prefix: /}, route: {cluster: c, retry_policy: {num_retries: 1}}}",
      `, ${policy}`,
    );
    expect(route?.retries?.effective).toBe(route?.retries?.route);
    expect(route?.retries?.virtualHost?.retryOn?.value).toEqual(["5xx", "reset"]);
    expect(route?.retries?.attempts).toBe(1);
  });

  test("a route without a policy has that of its virtual host", () => {
    const [route] = routesOf("{match: {prefix: /}, route: {cluster: c}}", `, ${policy}`);
    expect(route?.retries?.effective?.numRetries?.value).toBe(3);
    expect(route?.retries?.attempts).toBe(4);
  });

  test("a field beside the action is noted as misplaced", () => {
    const [route] = routesOf("{match: {prefix: /}, timeout: 1s, route: {cluster: c}}");
    expect(route?.misplaced.map(({ origin }) => origin.path)).toEqual(["virtual_hosts[0].routes[0].timeout"]);
  });
});

test("priority groups, by an alias and a merge key, named or inline", () => {
  const text = `
virtual_hosts:
- name: v
  domains: ["*"]
  routes:
  - match: {prefix: /a}
    route: {cluster_specifier_plugin: p, hash_policy: [{header: {header_name: h}, terminal: true}]}
  - match: {prefix: /b}
    route: &action
      inline_cluster_specifier_plugin: {extension: {name: e, typed_config: &groups {"@type": ${GROUPS}, priority_groups: [{name: g, clusters: [{cluster_name: a, weight: 80}, {cluster_name: b, weight: '20'}]}], header_name: x-r, override_metadata_namespace: ns}}}
  - match: {prefix: /c}
    route: {<<: *action, timeout: 0s}
cluster_specifier_plugins:
- extension: {name: p, typed_config: {"@type": ${GROUPS}, use_hash_policy: true, priority_groups: []}}
`;
  const [named, inline, merged] = virtualHostsOf(readProgram("in.yaml", text)).flatMap(({ routes }) => routes);
  expect(named?.attempts).toMatchObject({ source: { kind: "named", plugin: { value: "p" } }, groups: [] });
  expect(named?.attempts?.random).toMatchObject({ kind: "hash", policies: [{ kind: "header", terminal: true }] });
  expect(inline?.attempts).toMatchObject({
    source: { kind: "inline" },
    random: { kind: "header", name: { value: "x-r" } },
    override: { value: "ns" },
    json: { header_name: "x-r" },
  });
  const clusters = inline?.attempts?.groups[0]?.clusters.map(({ name, weight }) => [name.value, weight]);
  expect(clusters).toEqual([
    ["a", 80],
    ["b", 20],
  ]);
  expect(plain(merged?.attempts?.groups)).toEqual(plain(inline?.attempts?.groups));
  expect(merged?.attempts?.origin.path).toContain("routes[2].route");
});

test("route specifiers of every level", () => {
  const drop =
    '{name: d, typed_config: {"@type": type.googleapis.com/attempt_router.v1.DropRoute, final: true, when: {methods: [GET]}}}';
  const text = `{name: c, route_specifiers: [${drop}], virtual_hosts: [{name: v, domains: ["*"], route_specifiers: [{typed_config: {"@type": x/y}}], routes: [{match: {prefix: /}, route: {cluster: c}, routeSpecifiers: [${drop}]}]}]}`;
  const [config] = routeConfigurationsOf(readProgram("in.yaml", text));
  expect(plain(config?.specifiers)).toMatchObject([
    { name: { value: "d" }, type: "DropRoute", final: true, when: { value: { methods: ["GET"] } } },
  ]);
  expect(config?.virtualHosts[0]?.specifiers).toMatchObject([{ type: "x/y", final: false, when: undefined }]);
  expect(config?.virtualHosts[0]?.routes[0]?.specifiers).toMatchObject([{ type: "DropRoute" }]);
});

test("clusters: endpoints, limits, filters, composites", () => {
  const options = `${TYPE}.extensions.upstreams.http.v3.HttpProtocolOptions`.replace("type.googleapis.com/", "");
  const text = `
static_resources:
  clusters:
  - {name: a, load_assignment: {cluster_name: a, endpoints: [{lb_endpoints: [{endpoint: {}}, {endpoint: {}}]}]}, circuit_breakers: {thresholds: [{max_retries: 9}, {priority: HIGH, retry_budget: {}}]}}
  - {name: b, type: EDS, typed_extension_protocol_options: {${options}: {"@type": x, http_filters: [{name: f}], retry_policy: {num_retries: 2}, upstream_http_protocol_options: {auto_sni: true}}}}
  - {name: c, type: STATIC}
  - name: d
    cluster_type: {name: envoy.clusters.composite, typed_config: {"@type": "${TYPE}.extensions.clusters.composite.v3.ClusterConfig", clusters: [{name: a}, {name: e}]}}
  - {name: e, cluster_type: {name: envoy.clusters.composite, typed_config: {clusters: [{name: b}]}}}
  listeners: []
admin: {address: {pipe: {path: /x}}}
`;
  const { clusters, admin, dynamicClusters } = readProgram("in.yaml", text);
  const [a, b, c, d] = clusters;
  expect([a?.endpoints, b?.endpoints, c?.endpoints, d?.endpoints]).toEqual([2, undefined, 0, undefined]);
  expect(a?.thresholds).toMatchObject([{ priority: "DEFAULT", maxRetries: { value: 9 } }, { priority: "HIGH" }]);
  expect(b?.protocolOptions).toMatchObject({ autoSni: true, filters: { filters: [{ name: "f" }] } });
  expect(b?.protocolOptions?.retryPolicy?.numRetries?.value).toBe(2);
  expect(d?.composite?.clusters.map(({ value }) => value)).toEqual(["a", "e"]);
  expect(admin?.address?.value).toEqual({ pipe: { path: "/x" } });
  expect(dynamicClusters).toBe(false);
});

test("a route with a composite cluster has its attempts, nested ones included", () => {
  const composite = (name: string, entries: string) =>
    `{name: ${name}, cluster_type: {name: envoy.clusters.composite, typed_config: {clusters: [${entries}]}}}`;
  const listener = `{name: l, filter_chains: [{filters: [{name: h, typed_config: {"@type": "${TYPE}.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager", http_filters: [{name: f, disabled: true}, {name: r, typed_config: {"@type": "${TYPE}.extensions.filters.http.router.v3.Router", upstream_http_filters: [{name: u}]}}], upgrade_configs: [{upgrade_type: websocket}], route_config: {virtual_hosts: [{name: v, domains: ["*"], routes: [{match: {prefix: /}, route: {cluster: one}}]}]}}}]}]}`;
  const text = `{static_resources: {listeners: [${listener}], clusters: [${composite("one", "{name: a}, {name: two}")}, ${composite("two", "{name: b}")}]}}`;
  const program = readProgram("in.yaml", text);
  const [manager] = managersOf(program);
  expect(manager?.chain?.filters.map(({ name, disabled }) => [name, disabled])).toEqual([
    ["f", true],
    ["r", false],
  ]);
  expect(manager?.routers[0]?.upstream?.filters).toMatchObject([{ name: "u" }]);
  expect(manager).toMatchObject({ listener: "l", source: { kind: "inline" }, dynamicRoutes: false });
  expect(manager?.upgrades).toMatchObject([{ type: "websocket", chain: undefined }]);
  const [route] = manager?.routeConfigurations[0]?.virtualHosts[0]?.routes ?? [];
  expect(route?.attempts).toMatchObject({ source: { kind: "composite" }, groups: [], composites: ["one", "two"] });
});

test.each(fixtures("lower"))("all of $name is read", ({ name, text }) => {
  const program = readProgram(name, text);
  expect(JSON.stringify(program)).toContain('"origin"');
  for (const { virtualHosts } of routeConfigurationsOf(program)) {
    for (const { routes } of virtualHosts) for (const route of routes) expect(route.action.kind).not.toBe("none");
  }
});

test("what is no config of Envoy's is refused", () => {
  expect(() => readProgram("in.yaml", "{a: 1}")).toThrow(InputError);
});

function plainOrigin(value: { origin: unknown } | undefined): unknown {
  return JSON.parse(JSON.stringify(value?.origin));
}
