// Route configurations with specifiers, and what a real Envoy does with requests under them.

import type { LowerOptions } from "../../cli/lower.js";
import type { Case, Config, RequestSpec } from "../support/case.js";
import { lowered } from "../support/lowering.js";
import { runLeg } from "../support/run-case.js";

const TYPE = "type.googleapis.com/attempt_router.v1.";

/** A configured specifier of a shipped type. */
export function specifier(type: string, fields: Config = {}, name = type.toLowerCase()): Config {
  return { name, typed_config: { "@type": TYPE + type, ...fields } };
}

/** An audit that answers in the response header of its name. */
export const audit = (header: string): Config => specifier("Audit", { response_header: header }, header);
/** Appends its tag to a response header that shows which specifiers ran, in order; only on routes. */
export const tag = (name: string, fields: Config = {}): Config =>
  specifier("RouteOverride", { response_headers_to_add: [{ header: { key: "x-ran", value: name } }], ...fields }, name);
/** A template that takes every request to a cluster. */
export const fallbackTo = (cluster: string, fields: Config = {}): Config =>
  specifier("RouteTemplate", {
    template_id: "fallback",
    templates: [{ template_id: "fallback", route: { match: { prefix: "/" }, route: { cluster } } }],
    ...fields,
  });
export const drop = (fields: Config = {}): Config => specifier("DropRoute", fields);
export const forHeader = (name: string): Config => ({ headers: [{ name, present_match: true }] });

export interface Levels {
  config?: Config[];
  host?: Config[];
  route?: Config[];
  routes?: Config[];
  domains?: string[];
  /** Further fields of the virtual host. */
  hostFields?: Config;
  /** Further fields of the route configuration. */
  fields?: Config;
}

function routeConfig({ config, host, route, routes, domains = ["*"], hostFields, fields }: Levels): Config {
  const api = { match: { prefix: "/api" }, name: "api", route: { cluster: "api" }, route_specifiers: route ?? [] };
  const web = { match: { prefix: "/web" }, name: "web", route: { cluster: "web" } };
  const virtualHost = {
    ...hostFields,
    name: "local",
    domains,
    routes: routes ?? [api, web],
    route_specifiers: host ?? [],
  };
  return { name: "local_route", ...fields, route_specifiers: config ?? [], virtual_hosts: [virtualHost] };
}

export const UPSTREAMS = { api: 200, web: 200, other: 200, more: 200, bad: 503 };

/** What Envoy does with requests under lowered specifiers. */
export async function run(
  version: string,
  levels: Levels,
  requests: RequestSpec[],
  more: Partial<Case> = {},
  options: LowerOptions = {},
  change = (text: string): string => text,
) {
  const config = {
    file: "specifiers.yaml",
    name: "specifiers",
    about: "",
    upstreams: UPSTREAMS,
    route_config: routeConfig(levels),
    requests,
    observe: { flags: true, details: true, response_headers: ["x-ran", "x-config", "x-host", "x-route"] },
    ...more,
  };
  const leg = await runLeg(config, version, (text) => change(lowered(text, config.file, options)));
  if (leg.expect === "rejected") throw new Error("rejected");
  return leg.traces.flat().map(({ response, hops, log }) => ({
    status: response.status,
    body: response.body,
    served: response.headers["x-served-by"],
    hops: hops.map(({ upstream }) => upstream),
    headers: response.headers,
    upstream: hops.map((hop) => Object.fromEntries(hop.headers)),
    lines: hops.map(({ headers }) => headers.map((line) => line.join(": "))),
    paths: hops.map(({ path }) => path),
    flags: log[0]?.flags,
    details: log[0]?.details,
    log: leg.log,
  }));
}
