// A configuration with everything the module does, and the requests that make it do so.

import { priorityGroups } from "../scenarios.js";
import type { LoadSpec } from "../load/h2load.js";
import {
  clusters,
  direct,
  GOOGLE,
  listener,
  made,
  route,
  routeConfig,
  weights,
  type Json,
  type Origin,
} from "./config.js";

const LISTENER = `${GOOGLE}config.listener.v3.Listener`;
const ROUTES = `${GOOGLE}config.route.v3.RouteConfiguration`;
const CLUSTER = `${GOOGLE}config.cluster.v3.Cluster`;
const OURS = "type.googleapis.com/attempt_router.v1.";
const OVERRIDE = `${GOOGLE}extensions.router.cluster_specifiers.priority_group.v3.PriorityGroupsOverride`;

/** Requests of one kind of client, and the first digit of the status that all of them get. */
export interface Profile extends Pick<LoadSpec, "paths" | "headers" | "connections"> {
  name: string;
  listener: string;
  status: string;
  /** Of all requests, as a fraction. */
  share: number;
}

const SERVED = [
  ...["/weighted", "/picked", "/hashed?q=1", "/untyped", "/typed", "/invalid", "/composite", "/holes", "/retry"],
  ...["/one-slot", "/specified", "/specified-groups", "/template", "/plain"],
];
const HONEST = { "x-pick": "7", "x-key": "k", "x-tier": "gold", cookie: "c=1" };
const FORGED = {
  "x-envoy-attempt-count": "3",
  "x-attempt-router-cluster": "b",
  "x-attempt-router-cluster-1": "b",
  "x-attempt-router-first": "1",
  "x-pick": "none",
};

/** Of the listener in the bootstrap. */
export const CHAINS = 4;
const CHAIN_PATHS = Array.from({ length: CHAINS }, (_, i) => `/${i}`);

export const PROFILES: readonly Profile[] = [
  { name: "clients", listener: "mix", paths: SERVED, headers: HONEST, connections: 16, status: "2", share: 0.45 },
  { name: "forgers", listener: "mix", paths: SERVED, headers: FORGED, connections: 8, status: "2", share: 0.2 },
  { name: "chains", listener: "chains", paths: CHAIN_PATHS, connections: 8, status: "2", share: 0.2 },
  { name: "rds", listener: "rds", paths: ["/weighted", "/untyped"], connections: 4, status: "2", share: 0.1 },
  { name: "unknown clusters", listener: "mix", paths: ["/unknown"], connections: 4, status: "5", share: 0.03 },
  { name: "dropped routes", listener: "mix", paths: ["/dropped"], connections: 2, status: "4", share: 0.02 },
];

/** What changes comes to Envoy in files; the clusters stay as they are. */
export interface Resources {
  listeners: Json[];
  /** RouteConfigurations. */
  routes: Json[];
  clusters: Json[];
}

/**
 * The resources. Each `variant` has other weights, and so other settings on every route with groups.
 * @param routesFile where the RouteConfiguration will be.
 */
export function resources(variant: number, routesFile: string, origin: Origin): Resources {
  const listeners = [
    listener("mix", [metadataFilter()], { route_config: routeConfig("mix", mixRoutes(variant)) }),
    listener("rds", [metadataFilter()], { rds: routesFrom(routesFile) }),
  ];
  const typed = [
    ...listeners.map((resource) => ({ "@type": LISTENER, ...resource })),
    { "@type": ROUTES, ...routeConfig("rds", rdsRoutes(variant)) },
    ...clusters(origin.upstreams).map((resource) => ({ "@type": CLUSTER, ...resource })),
  ];
  const { resources } = made({ resources: typed as Json[] }, origin);
  const ofType = (type: string) => resources.filter((resource) => resource["@type"] === type);
  const untyped = ofType(CLUSTER).map((cluster) => ({ ...cluster, "@type": undefined }));
  return { listeners: ofType(LISTENER), routes: ofType(ROUTES), clusters: untyped };
}

function mixRoutes(variant: number): Json[] {
  const weighted = (more: Json = {}) => priorityGroups(weights(variant), more);
  const overridden = (namespace: string) => route(namespace, weighted({ override_metadata_namespace: namespace }));
  const down = (more: Json = {}) => priorityGroups([{ cluster_name: "down", weight: variant + 1 }], more);
  const specifiers = (...list: Json[]) => ({ route_specifiers: list });
  return [
    route("weighted", weighted()),
    route("picked", weighted({ header_name: "x-pick" })),
    route("hashed", { ...weighted({ use_hash_policy: true }), hash_policy: HASH_POLICY }),
    ...["untyped", "typed", "invalid"].map(overridden),
    route("composite", { cluster: "all" }),
    route("holes", { cluster: "with-holes" }),
    // Native Envoy reads the metadata before the first retry only, so the first attempt fails.
    route("unknown", down({ override_metadata_namespace: "unknown" })),
    route("retry", down()),
    { ...route("one-slot", down()), request_headers_to_remove: ["x-envoy-attempt-count"] },
    { ...route("specified-groups", { cluster: "b" }), ...specifiers(groupsOverride(variant)) },
    { ...route("specified", { cluster: "b" }), ...specifiers(override(), AUDIT) },
    { ...route("template", { cluster: "b" }), ...specifiers(TEMPLATE) },
    { ...direct("dropped", 404), ...specifiers(specifier("drop", "DropRoute")) },
    route("plain", { cluster: "b" }),
  ];
}

function rdsRoutes(variant: number): Json[] {
  const overridden = priorityGroups(weights(variant), { override_metadata_namespace: "untyped" });
  return [route("weighted", priorityGroups(weights(variant))), route("untyped", overridden)];
}

const HASH_POLICY = [
  { header: { header_name: "x-key" } },
  { cookie: { name: "c" } },
  { query_parameter: { name: "q" } },
];
const TIER = { headers: [{ name: "x-tier", string_match: { exact: "GOLD", ignore_case: true } }] };
const AUDIT = specifier("audit", "Audit", { counter: "seen", response_header: "x-audit" });
const TEMPLATE = specifier("template", "RouteTemplate", {
  template_id: "other",
  templates: [{ template_id: "other", route: { match: { prefix: "/" }, route: { cluster: "c" } } }],
});

function override(): Json {
  const added = [{ header: { key: "x-tier-known", value: "gold" } }];
  return specifier("override", "RouteOverride", {
    ...{ when: TIER, cluster: "c", timeout: "5s", retry_policy: { retry_on: "5xx", num_retries: 1 } },
    ...{ request_headers_to_add: added, response_headers_to_add: added },
  });
}

function groupsOverride(variant: number): Json {
  const groups = [
    { name: "down", clusters: [{ cluster_name: "down", weight: 1 }] },
    { name: "a", clusters: weights(variant) },
  ];
  return specifier("groups", "RouteOverride", { priority_groups: groups });
}

function specifier(name: string, type: string, fields: Json = {}): Json {
  return { name, typed_config: { "@type": OURS + type, ...fields } };
}

function routesFrom(path: string): Json {
  return { route_config_name: "rds", config_source: { resource_api_version: "V3", path_config_source: { path } } };
}

/** Writes what an external processor might: groups that are good, typed, wrong, and of a cluster that does not exist. */
function metadataFilter(): Json {
  const groups = [{ name: "mine", clusters: [{ cluster_name: "a2", weight: 3 }] }, { name: "g2" }];
  const unknown = [{ name: "mine", clusters: [{ cluster_name: "no-such-cluster", weight: 1 }] }];
  return {
    name: "metadata",
    typed_config: {
      "@type": `${GOOGLE}extensions.filters.http.set_metadata.v3.Config`,
      metadata: [
        { metadata_namespace: "untyped", value: { priority_groups: groups } },
        { metadata_namespace: "typed", typed_value: { "@type": OVERRIDE, priority_groups: groups } },
        { metadata_namespace: "invalid", value: { priority_groups: [{ name: "no-such-group" }, { name: 1 }] } },
        { metadata_namespace: "unknown", value: { priority_groups: unknown } },
      ],
    },
  };
}
