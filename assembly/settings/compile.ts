import { Bytes, NOTHING, encode, encodeLowerCase, sameBytes } from "../bytes";
import { Candidates } from "../decide/candidates";
import { Group, group } from "../decide/group";
import { HashPolicy, HashSource } from "../decide/hash-policy";
import { Plan, RandomSource } from "../decide/plan";
import { HashPolicy as HashPolicyMessage } from "../proto/attempt_router/v1/HashPolicy";
import { Pick } from "../proto/attempt_router/v1/Pick";
import { RouteSettings } from "../proto/attempt_router/v1/RouteSettings";
import { PriorityGroup } from "../proto/envoy/extensions/router/cluster_specifiers/priority_group/v3/PriorityGroup";
import { PriorityGroupClusterSpecifier } from "../proto/envoy/extensions/router/cluster_specifiers/priority_group/v3/PriorityGroupClusterSpecifier";
import { compileComposites } from "./composites";

const HOST = encode("host");

/**
 * Turns legal settings into the form that decisions are made by: names as bytes, weights as intervals. `candidates`
 * are the clusters of all composites, those of other routes too.
 */
export function compile(settings: RouteSettings, routeName: Bytes, candidates: Candidates): Plan {
  const specifier = settings.priorityGroup;
  const groups = specifier != null ? compileGroups(specifier.priorityGroups) : onlyCluster(settings.cluster);
  const plan = new Plan(routeName, groups);
  plan.slots = settings.slots;
  plan.slotForm = settings.slotForm;
  plan.pin = settings.pin;
  compileComposite(plan, settings, candidates);
  if (specifier != null) compileSpecifier(plan, settings, specifier);
  return plan;
}

// A route with a cluster of its own is a chain of one group; one that only has specifiers has none.
function onlyCluster(name: string): StaticArray<Group> {
  if (name.length == 0) return new StaticArray<Group>(0);
  const cluster = StaticArray.fromArray<Bytes>([encode(name)]);
  return StaticArray.fromArray<Group>([group(NOTHING, cluster, StaticArray.fromArray<u32>([1]))]);
}

function compileComposite(plan: Plan, settings: RouteSettings, candidates: Candidates): void {
  const refresh = settings.refreshClusterOnRetry;
  plan.refreshes = refresh == null || refresh.value;
  const flag = settings.skipClustersWithoutHosts;
  const skip = flag == null || flag.value;
  plan.composites = compileComposites(settings.compositeClusters, skip, candidates);
  plan.skipsClusters = skip && plan.composites.length > 0;
}

function compileSpecifier(plan: Plan, settings: RouteSettings, specifier: PriorityGroupClusterSpecifier): void {
  const namespace = specifier.overrideMetadataNamespace;
  if (namespace.length > 0) plan.overrideNamespace = encode(namespace);
  plan.readMetadataPerAttempt = settings.readMetadataPerAttempt;
  plan.avoidsTried = settings.avoidTriedClusters;
  plan.byScore = settings.pick == Pick.RENDEZVOUS;
  compileRandomSource(plan, specifier, settings.hashPolicy);
}

/** Turns legal groups into the form that clusters are picked from. */
export function compileGroups(messages: PriorityGroup[]): StaticArray<Group> {
  const groups = new StaticArray<Group>(messages.length);
  for (let i = 0; i < messages.length; i++) groups[i] = compileGroup(messages[i]);
  return groups;
}

function compileGroup(message: PriorityGroup): Group {
  const count = message.clusters.length;
  const clusters = new StaticArray<Bytes>(count);
  const weights = new StaticArray<u32>(count);
  for (let i = 0; i < count; i++) {
    clusters[i] = encode(message.clusters[i].clusterName);
    weights[i] = message.clusters[i].weight!.value;
  }
  return group(encode(message.name), clusters, weights);
}

function compileRandomSource(
  plan: Plan,
  specifier: PriorityGroupClusterSpecifier,
  policies: HashPolicyMessage[],
): void {
  const useHashPolicy = specifier.useHashPolicy;
  if (specifier.headerName.length > 0) {
    plan.randomSource = RandomSource.HEADER;
    plan.randomHeaderPath = encodeLowerCase("request\0headers\0" + specifier.headerName);
  } else if (useHashPolicy != null && useHashPolicy.value) {
    plan.randomSource = RandomSource.HASH_POLICY;
    plan.hashPolicies = compileHashPolicies(policies);
  }
}

function compileHashPolicies(messages: HashPolicyMessage[]): StaticArray<HashPolicy> {
  const policies = new StaticArray<HashPolicy>(messages.length);
  for (let i = 0; i < messages.length; i++) policies[i] = compileHashPolicy(messages[i]);
  return policies;
}

function compileHashPolicy(message: HashPolicyMessage): HashPolicy {
  const terminal = message.terminal;
  const header = message.header;
  if (header != null) return new HashPolicy(HashSource.HEADER, headerKey(header.headerName), terminal);
  const cookie = message.cookie;
  if (cookie != null) return new HashPolicy(HashSource.COOKIE, encode(cookie.name), terminal);
  const query = message.queryParameter;
  if (query != null) return new HashPolicy(HashSource.QUERY_PARAMETER, encode(query.name), terminal);
  const connection = message.connectionProperties;
  const usesIp = connection != null && connection.sourceIp;
  // Envoy makes no policy of connection_properties without source_ip, so that its terminal ends nothing.
  return new HashPolicy(usesIp ? HashSource.SOURCE_IP : HashSource.NOTHING, NOTHING, terminal && usesIp);
}

// `host` is Envoy's other name of `:authority`, also for HTTP/1.
function headerKey(name: string): Bytes {
  const key = encodeLowerCase(name);
  return sameBytes(key, HOST) ? encode(":authority") : key;
}
