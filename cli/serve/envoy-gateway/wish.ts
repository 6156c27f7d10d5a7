// What a user wishes for a route: the resources PriorityGroups (a policy) and PriorityGroupsFilter (a filter of the route).

import type { ConfigObject } from "../../lowerer.js";
import type { Json } from "../../yaml/scalar.js";

/** Under this name a wish waits in the metadata of its route for the translation of the whole. */
export const WISH = "attempt-router.dev";

/** A resource as far as it matters here. Its names are for messages, and its namespace is where its backends are. */
export interface Wish {
  kind: string;
  namespace: string;
  name: string;
  spec: ConfigObject;
}

/** A cluster by what the user knows of it: a backend, or a rule of an HTTPRoute. */
export type BackendRef = { name: string; kind?: string; port?: number } | { route: string; rule?: string };

export interface Group {
  name: string;
  backends: { ref: BackendRef; weight: number | undefined }[];
}

/** The fields of a spec that are no settings for the route's metadata. */
export const OWN_FIELDS = ["targetRef", "targetRefs", "targetSelectors", "groups", "retry"];
/** Those that go into Envoy's specifier as they are. */
export const SPECIFIER_FIELDS = ["header_name", "use_hash_policy", "override_metadata_namespace"];
/** The settings of a route that go into its metadata. Others would be the module's own, or need more than a route. */
export const SETTINGS = [
  ...["cluster_selection", "slots", "read_metadata_per_attempt", "hold_response", "record_attempts", "steps"],
  ...["cool_down", "pick", "min_attempt_time", "avoid_tried_clusters"],
];

/** A wish cannot be carried out; the message says why, by the path in its resource. */
export class WishError extends Error {}

/** @throws WishError where the text is no resource. */
export function parseResource(text: string): Wish {
  const resource = JSON.parse(text) as Json;
  const metadata = isObject(resource) ? resource["metadata"] : undefined;
  if (!isObject(resource) || !isObject(metadata)) throw new WishError("expected a resource, found something else");
  const spec = resource["spec"];
  return {
    kind: textIn(resource, "kind") ?? "",
    namespace: textIn(metadata, "namespace") ?? "default",
    name: textIn(metadata, "name") ?? "",
    spec: isObject(spec) ? spec : {},
  };
}

export function wishOf(value: Json | undefined): Wish | undefined {
  if (!isObject(value)) return undefined;
  const { kind, namespace, name, spec } = value;
  if (typeof kind !== "string" || typeof namespace !== "string" || typeof name !== "string") return undefined;
  return { kind, namespace, name, spec: isObject(spec) ? spec : {} };
}

/** @throws WishError with the path of what is wrong. */
export function groupsOf({ spec }: Wish): Group[] {
  for (const field of Object.keys(spec)) {
    if (![...OWN_FIELDS, ...SPECIFIER_FIELDS, ...SETTINGS].includes(field)) {
      throw new WishError(`spec.${field}: expected a field of the resource, found one that it does not have`);
    }
  }
  return listAt(spec["groups"], "spec.groups").map((group, index) => groupOf(group, `spec.groups[${index}]`));
}

function groupOf(value: Json, path: string): Group {
  const group = objectAt(value, path);
  const backends = listAt(group["backends"], `${path}.backends`);
  return {
    name: requiredText(group, "name", path),
    backends: backends.map((backend, index) => backendOf(backend, `${path}.backends[${index}]`)),
  };
}

function backendOf(value: Json, path: string): Group["backends"][number] {
  const backend = objectAt(value, path);
  const weight = backend["weight"];
  if (weight !== undefined && (typeof weight !== "number" || !Number.isInteger(weight) || weight < 0)) {
    throw new WishError(`${path}.weight: expected an integer of 0 or more, found ${JSON.stringify(weight)}`);
  }
  const ref = "route" in backend ? routeRef(backend, path) : namedRef(backend, path);
  return { ref, weight };
}

function routeRef(backend: ConfigObject, path: string): BackendRef {
  if ("name" in backend) throw new WishError(`${path}: expected name or route, found both`);
  const route = requiredText(backend, "route", path);
  return "rule" in backend ? { route, rule: requiredText(backend, "rule", path) } : { route };
}

function namedRef(backend: ConfigObject, path: string): BackendRef {
  const ref: BackendRef = { name: requiredText(backend, "name", path) };
  if ("kind" in backend) ref.kind = requiredText(backend, "kind", path);
  const port = backend["port"];
  if (port !== undefined && typeof port !== "number") {
    throw new WishError(`${path}.port: expected a number, found ${JSON.stringify(port)}`);
  }
  return port === undefined ? ref : { ...ref, port };
}

function requiredText(value: ConfigObject, field: string, path: string): string {
  const found = textIn(value, field);
  if (found !== undefined && found !== "") return found;
  throw new WishError(`${path}.${field}: expected a name, found ${JSON.stringify(value[field] ?? null)}`);
}

export function isObject(value: Json | undefined): value is ConfigObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function objectAt(value: Json | undefined, path: string): ConfigObject {
  if (isObject(value)) return value;
  throw new WishError(`${path}: expected an object, found ${JSON.stringify(value ?? null)}`);
}

function listAt(value: Json | undefined, path: string): Json[] {
  if (Array.isArray(value) && value.length > 0) return value;
  throw new WishError(`${path}: expected at least one item, found ${JSON.stringify(value ?? null)}`);
}

function textIn(value: ConfigObject, field: string): string | undefined {
  const found = value[field];
  return typeof found === "string" ? found : undefined;
}
