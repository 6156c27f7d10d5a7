// Configurations of many sizes. All that is not about size (retry policy, time-outs, connection manager, clusters) is as in the
// rows of bench/instructions.

import { parse } from "yaml";
import { bootstrap, priorityGroups } from "../scenarios.js";

export type Json = Record<string, unknown>;

/** How a configuration is given to Envoy. */
export type Form = "native" | "lowered";

export interface Group {
  name: string;
  clusters: { cluster_name: string; weight: number }[];
}

export interface Route extends Json {
  route: Json;
}

/** Lines of a curve that share their configurations: for each x one, with these routes. */
export interface Run {
  curve: string;
  form: Form;
  xs: readonly number[];
  routes: (x: number) => Route[];
  /** Requests of the warm-up that each unit of x needs at least: every cluster must have its connection. */
  warmUpByX?: number;
  /** The path of the requests, by the name of their line. */
  paths: Record<string, (x: number) => string>;
}

export interface Bootstrap extends Json {
  static_resources: { listeners: Listener[]; clusters: Cluster[] };
}

export interface Cluster extends Json {
  name: string;
  load_assignment?: Json;
}

interface Manager extends Json {
  route_config: { virtual_hosts: [{ routes: Route[] }] };
}

interface Listener extends Json {
  filter_chains: [{ filters: [{ typed_config: Manager }] }];
}

/** A line with the same routes in both forms, for requests to `/`. */
export function bothForms(curve: string, what: string, xs: readonly number[], routes: Run["routes"]): Run[] {
  return (["native", "lowered"] as const).map((form) => ({
    ...{ curve, form, xs, routes },
    paths: { [`${form}, ${what}`]: () => "/" },
  }));
}

/** The action of the native priority-group specifier with these groups. */
export function chain(groups: Group[]): Json {
  return priorityGroups([], { priority_groups: groups });
}

/** A route for all requests with this action, and with these fields beside or instead of its own. */
export function route(action: Json, more: Json = {}): Route {
  const [, base] = routesOf(template(0));
  if (base === undefined) throw new Error("the benchmark's bootstrap has a route for /");
  return { ...base, route: { ...base.route, ...action }, ...more };
}

/** A bootstrap whose only listener, `bench`, has these routes. */
export function proxy(routes: Route[], clusters: Cluster[]): Bootstrap {
  const base = template(0);
  const [listener] = base.static_resources.listeners;
  if (listener === undefined) throw new Error("the benchmark's bootstrap has a listener");
  listener.filter_chains[0].filters[0].typed_config.route_config.virtual_hosts[0].routes = routes;
  return { ...base, static_resources: { listeners: [listener], clusters } };
}

/** The clusters that the chains name: b, c, and a1 to a256. */
export function manyClusters(port: number): Cluster[] {
  return ["b", "c", ...Array.from({ length: 256 }, (_, i) => `a${i + 1}`)].map((name) => clusterAt(name, port));
}

/** A cluster with one endpoint at `port`, or with none. */
export function clusterAt(name: string, port?: number): Cluster {
  const [base] = template(port ?? 0).static_resources.clusters;
  if (base === undefined) throw new Error("the benchmark's bootstrap has clusters");
  const load_assignment = { ...(port === undefined ? {} : base.load_assignment), cluster_name: name };
  return { ...base, name, load_assignment };
}

/** All but listeners and clusters as in the rows of bench/instructions. */
export function template(port: number): Bootstrap {
  return structuredClone((templates[port] ??= parse(bootstrap({}, { ok: port, failing: port })) as Bootstrap));
}

const templates: Record<number, Bootstrap> = {};

function routesOf({ static_resources }: Bootstrap): Route[] {
  const [listener] = static_resources.listeners;
  return listener?.filter_chains[0].filters[0].typed_config.route_config.virtual_hosts[0].routes ?? [];
}
