import type { Finding } from "../findings.js";
import { snakeCase, type Cursor } from "../yaml/cursor.js";
import type { Json } from "../yaml/scalar.js";
import { canonicalJson, messageJson } from "./settings.js";
import { readMember, type Member } from "./members.js";
import type { Message } from "./route-copy.js";
import { HTTP_PROTOCOL_OPTIONS, NO_HOST_CLUSTER, TYPE } from "./types.js";

const COMPOSITE_TYPE = "envoy.clusters.composite";
/** One attempt less than a route may have slots: the last slot is that of the attempts past the list. */
const MAX_CLUSTERS = 99;

/** What a composite cluster may set. The first ones play no part natively; the rest is compared with its clusters. */
const KNOWN_FIELDS = [
  "@type",
  ...["name", "alt_stat_name", "connect_timeout", "lb_policy", "cluster_type", "metadata"],
  ...["circuit_breakers", "typed_extension_protocol_options", "upstream_config"],
];
/** What the router reads from the cluster that the route names: natively from the composite, lowered from its clusters. */
const ROUTE_OPTIONS = [
  ...["upstream_http_protocol_options", "http_filters", "request_mirror_policies", "hash_policy", "retry_policy"],
];
const DEFAULT_MAX_RETRIES = 3;

interface Definition {
  cluster: Cursor;
  /** Place in the file's list of clusters; -1: in another file. */
  index: number;
  entries: string[];
}

/** The composite clusters of a file. */
export class Composites {
  private readonly definitions = new Map<string, Definition>();
  /** What `candidates` found before; a list that is being made is empty, so that a cycle ends. */
  private readonly lists = new Map<string, string[]>();
  private readonly clusters = new Map<string, Cursor>();
  private readonly members = new Map<string, Member>();

  /**
   * @param closed No cluster can join at run time, so that a name that is not there now never will be.
   * @param elsewhere Clusters of another file.
   */
  constructor(
    clusters: readonly Cursor[],
    private readonly closed: boolean,
    elsewhere: readonly Cursor[] = [],
  ) {
    for (const cluster of elsewhere) this.add(cluster, -1);
    clusters.forEach((cluster, index) => this.add(cluster, index));
  }

  get isEmpty(): boolean {
    return this.definitions.size === 0;
  }

  isElsewhere(name: string): boolean {
    return this.definitions.get(name)?.index === -1;
  }

  get names(): string[] {
    return [...this.definitions.keys()];
  }

  /** Places of the definitions in the file's list of clusters. */
  get indexes(): Set<number> {
    return new Set([...this.definitions.values()].map(({ index }) => index).filter((index) => index >= 0));
  }

  has(name: string): boolean {
    return this.definitions.has(name);
  }

  /** The offsets at which the definitions start. */
  get offsets(): Set<number> {
    const own = [...this.definitions.values()].filter(({ index }) => index >= 0);
    return new Set(own.map(({ cluster }) => cluster.offset));
  }

  clusterNamed(name: string): Cursor | undefined {
    return this.clusters.get(name);
  }

  /** What the file says of the hosts of a cluster; undefined where it does not have the cluster. */
  member(name: string): Member | undefined {
    const cluster = this.clusters.get(name);
    const known = this.members.get(name);
    if (cluster === undefined || known !== undefined) return known;
    const member = readMember(cluster);
    this.members.set(name, member);
    return member;
  }

  /** The clusters of composite clusters that have upstream filters of their own, or may have some: those not in the file. */
  get guarded(): string[] {
    const entries = [...this.definitions.values()].flatMap((definition) => definition.entries);
    const leaves = [...new Set(entries)].filter((name) => name !== "" && !this.has(name));
    return leaves.filter((name) => this.member(name)?.filters ?? this.exists(name));
  }

  /** The message of a composite cluster; undefined for a name that is none. */
  definition(name: string): Message | undefined {
    const cluster = this.definitions.get(name)?.cluster;
    if (cluster === undefined) return undefined;
    const fields = cluster.entries().map(({ key, value }) => [snakeCase(key), value.copy()] as const);
    return Object.fromEntries(fields.filter(([key]) => key !== "@type"));
  }

  /** Number of attempts that have a cluster; 0 for a name that is no composite cluster. */
  lengthOf(name: string): number {
    return this.definitions.get(name)?.entries.length ?? 0;
  }

  /** The composite clusters that can be met from these names: themselves and those nested in them. */
  reach(names: readonly string[]): string[] {
    const reached: string[] = [];
    const visit = (name: string): void => {
      if (!this.has(name) || reached.includes(name)) return;
      reached.push(name);
      this.definitions.get(name)?.entries.forEach(visit);
    };
    names.forEach(visit);
    return reached;
  }

  /** RouteSettings.composite_clusters for these composites, of which some have aggregates. */
  settings(names: readonly string[], aggregated: ReadonlySet<string> = new Set()): Json[] {
    return names.map((name) => {
      const entries = this.definitions.get(name)?.entries ?? [];
      const clusters = entries.map((entry) => ({ name: this.exists(entry) ? entry : NO_HOST_CLUSTER }));
      return { name, clusters, ...(aggregated.has(name) ? { aggregates: true } : {}) };
    });
  }

  /**
   * The clusters that an attempt (1, 2, …) may use in their order, none where it has none; a name that is no composite
   * cluster stands for itself.
   */
  candidates(name: string, attempt: number, skip: boolean): string[] {
    const entries = this.definitions.get(name)?.entries;
    if (entries === undefined) return this.exists(name) ? [name] : [];
    const key = `${attempt}/${String(skip)}/${name}`;
    const before = this.lists.get(key);
    if (before !== undefined) return before;
    this.lists.set(key, []);
    const turn = entries.slice(attempt - 1, skip ? entries.length : attempt);
    const list = [...new Set(turn.flatMap((entry) => this.candidates(entry, attempt, skip)))];
    this.lists.set(key, list);
    return list;
  }

  /** Whether an attempt may have to pass over a cluster, so that it matters which ones have a host. */
  skips(names: readonly string[]): boolean {
    return names.some((name) => {
      const attempts = this.definitions.get(name)?.entries ?? [];
      return attempts.some((_, index) => this.candidates(name, index + 1, true).length > 1);
    });
  }

  /**
   * Reports definitions that Envoy refuses, or that would lose something.
   * @param losing Composite clusters whose own settings are not in force for some route.
   */
  check(losing: ReadonlySet<string>, findings: Finding[]): void {
    for (const [name, definition] of this.definitions) {
      findings.push(...definitionFindings(name, definition), ...this.cycleFindings(name, definition));
      if (!losing.has(name)) continue;
      findings.push(...ownRetryFindings(definition));
      const leaves = new Set(definition.entries.filter((entry) => !this.has(entry)));
      for (const leaf of leaves) findings.push(...this.differences(name, definition.cluster, leaf));
    }
  }

  /** Where the clusters of a priority group beside a composite would lose something when the route is changed. */
  retryPolicyFinding(name: string): Finding | undefined {
    const policy = this.clusters
      .get(name)
      ?.at("typed_extension_protocol_options", HTTP_PROTOCOL_OPTIONS, "retry_policy");
    return policy?.finding(
      "expected no retry_policy of a cluster that shares its priority groups with a composite cluster, found one",
    );
  }

  private add(cluster: Cursor, index: number): void {
    const name = cluster.field("name")?.string() ?? "";
    this.clusters.set(name, cluster);
    if (!isComposite(cluster)) return;
    const entries = entriesOf(cluster).map((entry) => entry.field("name")?.string() ?? "");
    this.definitions.set(name, { cluster, index, entries });
  }

  private exists(name: string): boolean {
    return !this.closed || this.clusters.has(name);
  }

  private cycleFindings(name: string, { cluster, entries }: Definition): Finding[] {
    const nested = entries.filter((entry) => this.has(entry));
    if (!this.reach(nested).includes(name)) return [];
    return [listOf(cluster).finding("expected clusters that do not lead back to this one, found a cycle")];
  }

  private differences(name: string, composite: Cursor, leafName: string): Finding[] {
    const leaf = this.clusters.get(leafName);
    if (leaf === undefined) return [];
    const own = comparable(composite);
    return Object.entries(comparable(leaf)).flatMap(([field, value]) => {
      const wanted = own[field] ?? null;
      if (canonicalJson(value) === canonicalJson(wanted)) return [];
      const message =
        `expected the same ${field} as the composite cluster ${name} has (${show(wanted)}), whose own one is in force ` +
        `for its routes and cannot be kept, found ${show(value)}`;
      return [leaf.finding(message)];
    });
  }
}

function show(value: Json): string {
  return value === null ? "none" : JSON.stringify(value);
}

function isComposite(cluster: Cursor): boolean {
  const type = cluster.field("cluster_type");
  return (
    type?.field("typed_config")?.type() === TYPE.compositeCluster || type?.field("name")?.string() === COMPOSITE_TYPE
  );
}

function listOf(cluster: Cursor): Cursor {
  return cluster.at("cluster_type", "typed_config", "clusters") ?? cluster;
}

function entriesOf(cluster: Cursor): Cursor[] {
  return cluster.at("cluster_type", "typed_config", "clusters")?.items() ?? [];
}

function definitionFindings(name: string, { cluster, entries }: Definition): Finding[] {
  const findings: Finding[] = [];
  for (const { key, value } of cluster.entries()) {
    if (KNOWN_FIELDS.includes(snakeCase(key)) || value.node === undefined) continue;
    findings.push(
      value.finding(`expected no ${snakeCase(key)} of a composite cluster, which cannot be lowered, found one`),
    );
  }
  const policy = cluster.field("lb_policy");
  if (policy?.string() !== "CLUSTER_PROVIDED" && policy?.json() !== 6) {
    const found = show(policy?.json() ?? null);
    findings.push(cluster.findingBelow(["lb_policy"], `expected CLUSTER_PROVIDED, found ${found}`));
  }
  const steps = ["cluster_type", "typed_config", "clusters"];
  if (entries.length === 0) findings.push(cluster.findingBelow(steps, "expected at least one cluster, found none"));
  if (entries.length > MAX_CLUSTERS) {
    findings.push(listOf(cluster).finding(`expected at most ${MAX_CLUSTERS} clusters, found ${entries.length}`));
  }
  entriesOf(cluster).forEach((entry, index) => {
    const text = entry.field("name")?.string() ?? "";
    if (text === "") {
      findings.push(cluster.findingBelow([...steps, index, "name"], "expected the name of a cluster, found none"));
    }
    findings.push(...unknownFields(entry, ["name"]));
  });
  const config = cluster.at("cluster_type", "typed_config");
  if (config !== undefined) findings.push(...unknownFields(config, ["@type", "clusters"]));
  if (name === "") findings.push(cluster.findingBelow(["name"], "expected the name of a cluster, found none"));
  return findings;
}

function ownRetryFindings({ cluster }: Definition): Finding[] {
  const retries = cluster.at("typed_extension_protocol_options", HTTP_PROTOCOL_OPTIONS, "retry_policy");
  if (retries === undefined) return [];
  return [retries.finding("expected the retry_policy of a composite cluster on its routes, found it here")];
}

function unknownFields(message: Cursor, known: readonly string[]): Finding[] {
  return message
    .entries()
    .filter(({ key }) => !known.includes(snakeCase(key)))
    .map(({ key, value }) => value.finding(`expected one of the fields ${known.join(", ")}, found ${key}`));
}

/** The settings of a cluster that are in force for the routes that name it, in a form that equal ones share. */
function comparable(cluster: Cursor): Record<string, Json> {
  const options = cluster.at("typed_extension_protocol_options", HTTP_PROTOCOL_OPTIONS);
  const fields = Object.fromEntries(ROUTE_OPTIONS.map((name) => [name, jsonOf(options?.field(name))]));
  return { ...fields, upstream_config: jsonOf(cluster.field("upstream_config")), ...retryLimits(cluster) };
}

function retryLimits(cluster: Cursor): Record<string, Json> {
  const thresholds = cluster.at("circuit_breakers")?.list("thresholds") ?? [];
  const limits: Record<string, Json> = {};
  for (const priority of ["DEFAULT", "HIGH"]) {
    const own = thresholds.find((one) => (one.field("priority")?.string() ?? "DEFAULT") === priority);
    limits[`max_retries (${priority})`] = Number(own?.field("max_retries")?.json() ?? DEFAULT_MAX_RETRIES);
    limits[`retry_budget (${priority})`] = jsonOf(own?.field("retry_budget"));
  }
  return limits;
}

function jsonOf(cursor: Cursor | undefined): Json {
  return cursor === undefined ? null : messageJson(cursor, []);
}
