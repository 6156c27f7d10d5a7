import type { Finding } from "../../findings.js";
import { sha256 } from "../../sha256.js";
import { snakeCase, type Cursor } from "../../yaml/cursor.js";
import type { Json } from "../../yaml/scalar.js";
import { canonicalJson, DIGITS, isMessage, messageJson } from "../settings.js";
import { matchCondition, pathConditions, type MatchCondition } from "./template-match.js";

export type Message = { [key: string]: Json };

const TYPE_PREFIX = "type.googleapis.com/attempt_router.v1.";

const NO_CONDITION: MatchCondition = { condition: {}, incomplete: false };
const CUT_PATH =
  "expected no condition on the path where ignore_path_parameters_in_path_matching is set, which only Envoy's own matching heeds, found one: write a match in a template";

const SHIPPED = ["RouteOverride", "RouteTemplate", "DropRoute", "Audit"];
/** What a specifier of another type may override. */
const ANYTHING: Override = { cluster: true, groups: [], anyCluster: false, retries: 0 };

/** One entry of a `route_specifiers` list. */
export interface Configured {
  entry: Cursor;
  /** Of `attempt_router.v1`; another type's whole URL. */
  type: string;
  /** The entry as the module reads it. */
  settings: Message;
  /** Of a RouteOverride, or of a type that the module was given in addition. */
  override?: Override;
  /** The chosen one of a RouteTemplate. */
  template?: Template;
}

/** What a RouteOverride may replace, as far as it decides which copies of a route there must be. */
export interface Override {
  /** One cluster for all attempts. */
  cluster: boolean;
  /** The clusters of each of its priority groups. */
  groups: string[][];
  /** Requests may override these groups. */
  anyCluster: boolean;
  /** Retries of the policy that replaces the route's; undefined where none does. */
  retries: number | undefined;
}

/** A native route that stands in the place of another. */
export interface Template {
  id: string;
  route: Cursor;
  pin: string;
  /** Only the proxy can evaluate its whole match. */
  proxyMatches: boolean;
}

/**
 * Reads the entries of a `route_specifiers` list; only the module says whether their fields are right. `cutsPath`: the
 * route configuration ignores parameters of paths, which only the proxy does.
 */
export function readSpecifiers(holder: Cursor, cutsPath: boolean, findings: Finding[]): Configured[] {
  return holder.list("route_specifiers").map((entry) => readSpecifier(entry, cutsPath, findings));
}

function readSpecifier(entry: Cursor, cutsPath: boolean, findings: Finding[]): Configured {
  const config = entry.field("typed_config");
  if (cutsPath) findings.push(...pathConditions(config?.field("when")).map((path) => path.finding(CUT_PATH)));
  const url = config?.type() ?? "";
  const type = url.startsWith(TYPE_PREFIX) ? url.slice(TYPE_PREFIX.length) : url;
  const name = entry.field("name")?.json();
  const fields = config === undefined ? {} : messageOf(config, findings);
  const typed: Message = { ...(url === "" ? {} : { "@type": url }), ...fields };
  const configured: Configured = {
    entry,
    type,
    settings: { ...(name === undefined ? {} : { name }), typed_config: typed },
  };
  if (config === undefined) return { ...configured, settings: name === undefined ? {} : { name } };
  if (type === "RouteOverride") configured.override = overrideOf(fields);
  if (!SHIPPED.includes(type)) configured.override = ANYTHING;
  if (type === "RouteTemplate") readTemplates(config, typed, configured, cutsPath, findings);
  return configured;
}

function messageOf(config: Cursor, findings: Finding[]): Message {
  const json = messageJson(config, findings);
  return isMessage(json) ? json : {};
}

function overrideOf(fields: Message): Override {
  const has = (name: string): boolean => name in fields;
  const groups = Array.isArray(fields["priority_groups"]) ? fields["priority_groups"] : [];
  return {
    cluster: ["cluster", "weighted_clusters", "cluster_header", "cluster_metadata"].some(has),
    groups: groups.map((group) => namesIn(group, "clusters", "cluster_name")),
    anyCluster: has("override_metadata_namespace"),
    retries: has("retry_policy") ? retriesOf(fields["retry_policy"]) : undefined,
  };
}

function retriesOf(policy: Json | undefined): number {
  const count = Number(isMessage(policy) ? (policy["num_retries"] ?? 1) : 1);
  return Number.isInteger(count) && count >= 0 ? count : 1;
}

/** The names in a list of messages. */
function namesIn(message: Json, list: string, field: string): string[] {
  const items = isMessage(message) ? message[list] : undefined;
  if (!Array.isArray(items)) return [];
  return items.map((item) => (isMessage(item) ? item[field] : undefined)).filter((name) => typeof name === "string");
}

/** In the settings a template's route becomes what the module must know of it. */
function readTemplates(
  config: Cursor,
  typed: Message,
  configured: Configured,
  cutsPath: boolean,
  findings: Finding[],
): void {
  const chosen = config.field("template_id")?.string();
  const summaries: Json[] = config.list("templates").map((item) => {
    const id = item.field("template_id");
    const route = item.field("route");
    const summary: Message = id === undefined ? {} : { template_id: id.json() };
    if (route === undefined) return summary;
    rejectSpecifiers(route, findings);
    if (id?.string() !== chosen || chosen === undefined) return { ...summary, route: { pin: "(not chosen)" } };
    const match = route.field("match");
    const condition = match === undefined ? NO_CONDITION : matchCondition(match, cutsPath);
    configured.template = templateOf(route, chosen, condition);
    return { ...summary, route: templateSummary(route, chosen, configured.template, condition) };
  });
  if (config.field("templates") !== undefined) typed["templates"] = summaries;
}

function rejectSpecifiers(route: Cursor, findings: Finding[]): void {
  const own = route.field("route_specifiers");
  if (own === undefined || own.items().length === 0) return;
  findings.push(own.finding("expected a template without route_specifiers, found some"));
}

function templateOf(route: Cursor, id: string, { incomplete }: MatchCondition): Template {
  return { id, route, pin: `template/${id}/${digest(route)}`, proxyMatches: incomplete };
}

function templateSummary(route: Cursor, id: string, template: Template, { condition }: MatchCondition): Message {
  return {
    ...configuredRoute(route, id, template.pin),
    ...(Object.keys(condition).length > 0 ? { match: condition } : {}),
    ...(template.proxyMatches ? { proxy_matches: true } : {}),
  };
}

/** A route as a ConfiguredRoute of settings.proto. */
export function configuredRoute(route: Cursor, defaultName: string, pin: string): Message {
  const cluster = route.at("route", "cluster")?.string();
  return {
    name: route.field("name")?.string() ?? defaultName,
    pin,
    ...(hasEntry(route) ? {} : { no_entry: true }),
    ...(cluster === undefined ? {} : { cluster }),
  };
}

/** Whether a route forwards requests; not a redirect, a direct response or the like. */
export function hasEntry(route: Cursor): boolean {
  return route.field("route") !== undefined;
}

/** Digits that tell routes with different content apart, also such as were made to have the same. */
export function digest(route: Cursor): string {
  return sha256(canonicalJson(route.json())).slice(0, DIGITS);
}

/** A message with the names of its own fields in snake_case; what is inside them stays as written. */
export function ownFields(cursor: Cursor): Message {
  const fields: Message = {};
  for (const { key, value } of cursor.entries()) {
    const json = value.json();
    if (json !== null) fields[snakeCase(key)] = json;
  }
  return fields;
}

/** A field of such a message, as a message. */
export function subFields(message: Message, field: string): Message {
  const value = message[field];
  if (!isMessage(value)) return {};
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [snakeCase(key), item]));
}
