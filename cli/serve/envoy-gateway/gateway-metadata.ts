// What Envoy Gateway writes about its clusters and routes: the Kubernetes resource that each was made from.

import type { ConfigObject } from "../../lowerer.js";
import type { Json } from "../../yaml/scalar.js";
import { isObject, WishError, type BackendRef } from "./wish.js";

interface Resource {
  kind: string;
  namespace: string;
  name: string;
  /** The rule of a route, or the port of a backend. */
  sectionName: string | undefined;
}

/** The resource of a cluster, a route or a locality, where its metadata names one. */
export function resourceOf(value: ConfigObject): Resource | undefined {
  const [first] = items(at(value, "metadata", "filter_metadata", "envoy-gateway", "resources"));
  if (!isObject(first)) return undefined;
  const { kind, namespace, name, sectionName } = first;
  if (typeof kind !== "string" || typeof namespace !== "string" || typeof name !== "string") return undefined;
  return { kind, namespace, name, sectionName: typeof sectionName === "string" ? sectionName : undefined };
}

/** The value at a path of fields; undefined where there is none. */
export function at(value: Json | undefined, ...path: string[]): Json | undefined {
  return path.reduce<Json | undefined>((found, field) => (isObject(found) ? found[field] : undefined), value);
}

export function items(value: Json | undefined): Json[] {
  return Array.isArray(value) ? value : [];
}

/** Which clusters a translation has for the backends and rules that users name. */
export class ClusterIndex {
  private readonly ofBackends: { resource: Resource; cluster: string; shared: boolean }[] = [];
  private readonly ofRules: { resource: Resource; cluster: string | undefined }[] = [];

  constructor(clusters: readonly ConfigObject[], routes: readonly ConfigObject[]) {
    for (const cluster of clusters) {
      const name = cluster["name"];
      if (typeof name !== "string") continue;
      const backend = backendOf(cluster);
      if (backend !== undefined) this.ofBackends.push({ ...backend, cluster: name });
    }
    for (const route of routes) {
      const resource = resourceOf(route);
      const cluster = at(route, "route", "cluster");
      if (resource !== undefined && "route" in route) {
        this.ofRules.push({ resource, cluster: typeof cluster === "string" ? cluster : undefined });
      }
    }
  }

  /**
   * The name of the cluster that a reference from a namespace means.
   * @throws WishError where it means none, or several.
   */
  find(ref: BackendRef, namespace: string): string {
    return "route" in ref ? this.ofRule(ref, namespace) : this.ofBackend(ref, namespace);
  }

  private ofRule({ route, rule }: { route: string; rule?: string }, namespace: string): string {
    const found = this.ofRules.filter(
      ({ resource }) => isOf(resource, namespace, route) && (rule === undefined || resource.sectionName === rule),
    );
    const what = `HTTPRoute ${namespace}/${route}${rule === undefined ? "" : `, rule ${rule}`}`;
    if (found.some(({ cluster }) => cluster === undefined)) {
      throw new WishError(`${what} leads to several clusters; name a rule with one backend, or the backends`);
    }
    return single(
      new Set(found.map(({ cluster }) => cluster as string)),
      what,
      "name a rule of a route on this Gateway",
    );
  }

  private ofBackend(ref: { name: string; kind?: string; port?: number }, namespace: string): string {
    const found = this.ofBackends.filter(
      ({ resource }) =>
        isOf(resource, namespace, ref.name) &&
        (ref.kind === undefined || resource.kind === ref.kind) &&
        (ref.port === undefined || resource.sectionName === String(ref.port)),
    );
    // A cluster that routes share is the backend itself; the same backend may also have clusters of single rules.
    const shared = found.filter((one) => one.shared);
    const what = `backend ${namespace}/${ref.name}`;
    const fix = "set mergeBackends in EnvoyProxy, or name a rule that leads to it: {route, rule}";
    return single(new Set((shared.length > 0 ? shared : found).map(({ cluster }) => cluster)), what, fix);
  }
}

/** The backend that is all of a cluster: the cluster says so itself, or all its endpoints do. */
function backendOf(cluster: ConfigObject): { resource: Resource; shared: boolean } | undefined {
  const own = resourceOf(cluster);
  if (own !== undefined && !own.kind.endsWith("Route")) return { resource: own, shared: true };
  const localities = items(at(cluster, "load_assignment", "endpoints"))
    .filter(isObject)
    .map(resourceOf);
  const [first] = localities;
  if (first === undefined) return undefined;
  const isAll = localities.every((one) => one?.kind === first.kind && isOf(one, first.namespace, first.name));
  return isAll ? { resource: first, shared: false } : undefined;
}

function isOf(resource: Resource, namespace: string, name: string): boolean {
  return resource.namespace === namespace && resource.name === name;
}

function single(names: Set<string>, what: string, fix: string): string {
  const [name] = names;
  if (name === undefined) throw new WishError(`${what}: expected its cluster, found none; ${fix}`);
  if (names.size > 1) throw new WishError(`${what}: expected one cluster, found ${[...names].join(", ")}; ${fix}`);
  return name;
}
