// Which clusters the attempts of one request may meet.

import { snakeCase } from "../../yaml/cursor.js";
import type { Json } from "../../yaml/scalar.js";
import { TYPE } from "../types.js";

/** What a route, or all that a connection manager may do with a request, leads to. */
export interface Reach {
  names: Set<string>;
  /** Any cluster: a request may name one. */
  every: boolean;
}

/** Fields by which a request names a cluster, and the one whose clusters a list may bound. */
const NAMED_BY_REQUEST = new Set(["cluster_header", "cluster_metadata"]);
const OVERRIDE = "override_metadata_namespace";
const ALLOWED = "allowed_clusters";
const CLUSTER_NAMES = new Set(["cluster", "cluster_name"]);
const LISTS_OF_CLUSTERS = new Set(["clusters", "weighted_clusters", ALLOWED]);
/** The types of the specifiers that ship; one of a user's own may lead anywhere. */
const OWN_SPECIFIERS = "type.googleapis.com/attempt_router.v1.";
const SPECIFIERS = "envoy.extensions.router.cluster_specifiers.";
const KNOWN_SPECIFIERS = new Set<string>([TYPE.priorityGroup, TYPE.matcherSpecifier, TYPE.clusterAction]);

/** What the messages of a route name: its own, and those that stand around it. */
export function reachOf(messages: readonly Json[]): Reach {
  const reach: Reach = { names: new Set(), every: false };
  for (const message of messages) walk(message, "", reach);
  const overrides = messages.some((message) => isSet(message, OVERRIDE));
  const bounded = messages.some((message) => isSet(message, ALLOWED));
  return overrides && !bounded ? { ...reach, every: true } : reach;
}

/** Adds what the composite clusters of a file lead to. */
export function withMembers(reach: Reach, members: ReadonlyMap<string, readonly string[]>): Reach {
  const names = new Set<string>();
  const add = (name: string): void => {
    if (names.has(name)) return;
    names.add(name);
    for (const member of members.get(name) ?? []) add(member);
  };
  for (const name of reach.names) add(name);
  return { ...reach, names };
}

function walk(value: Json, field: string, reach: Reach): void {
  if (Array.isArray(value)) {
    for (const item of value) {
      if (LISTS_OF_CLUSTERS.has(field)) addListed(item, reach);
      walk(item, field, reach);
    }
    return;
  }
  if (value === null || typeof value !== "object") return;
  for (const [key, item] of Object.entries(value)) {
    const name = snakeCase(key);
    if (CLUSTER_NAMES.has(name) && typeof item === "string") reach.names.add(item);
    if (NAMED_BY_REQUEST.has(name) && item !== null && item !== "") reach.every = true;
    if (key === "@type" && isOtherSpecifier(item)) reach.every = true;
    if (name === "route_specifiers" && holdsOtherTypes(item)) reach.every = true;
    walk(item, name, reach);
  }
}

/** Weighted clusters are messages with a name; lists of names are texts. */
function addListed(item: Json, reach: Reach): void {
  if (typeof item === "string") reach.names.add(item);
  else if (item !== null && typeof item === "object" && !Array.isArray(item)) {
    if (typeof item["name"] === "string") reach.names.add(item["name"]);
  }
}

/** What code of others chooses is not known. */
function isOtherSpecifier(type: Json): boolean {
  return typeof type === "string" && type.includes(SPECIFIERS) && !KNOWN_SPECIFIERS.has(type);
}

function holdsOtherTypes(value: Json): boolean {
  return someEntry(
    value,
    (key, item) => key === "@type" && typeof item === "string" && !item.startsWith(OWN_SPECIFIERS),
  );
}

function isSet(message: Json, field: string): boolean {
  return someEntry(message, (key, item) => snakeCase(key) === field && item !== null && item !== "");
}

function someEntry(value: Json, holds: (key: string, item: Json) => boolean): boolean {
  if (Array.isArray(value)) return value.some((item) => someEntry(item, holds));
  if (value === null || typeof value !== "object") return false;
  return Object.entries(value).some(([key, item]) => holds(key, item) || someEntry(item, holds));
}
