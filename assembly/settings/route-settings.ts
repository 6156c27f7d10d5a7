// The settings of a route, from a value tree to the messages of proto/attempt_router/v1/settings.proto. This is the one
// place that knows what legal settings are; the command line runs it too.

import { HashPolicy } from "../proto/attempt_router/v1/HashPolicy";
import { ConnectionProperties } from "../proto/attempt_router/v1/HashPolicy/ConnectionProperties";
import { Cookie } from "../proto/attempt_router/v1/HashPolicy/Cookie";
import { Header } from "../proto/attempt_router/v1/HashPolicy/Header";
import { QueryParameter } from "../proto/attempt_router/v1/HashPolicy/QueryParameter";
import { RouteSettings } from "../proto/attempt_router/v1/RouteSettings";
import { ClusterWeight } from "../proto/envoy/extensions/router/cluster_specifiers/priority_group/v3/ClusterWeight";
import { PriorityGroup } from "../proto/envoy/extensions/router/cluster_specifiers/priority_group/v3/PriorityGroup";
import { PriorityGroupClusterSpecifier } from "../proto/envoy/extensions/router/cluster_specifiers/priority_group/v3/PriorityGroupClusterSpecifier";
import { BoolValue } from "../proto/google/protobuf/BoolValue";
import { UInt32Value } from "../proto/google/protobuf/UInt32Value";
import { readComposites } from "./composites";
import { Fields } from "./fields";
import { Problem } from "./problem";
import { Value } from "./value";

/** More slots than any retry policy makes use of; the matcher tree grows with them. */
const MAX_SLOTS: u32 = 100;

/** Reads a route's settings; what is wrong with them is noted in `problem`, and the result then means nothing. */
export function readRouteSettings(value: Value, problem: Problem): RouteSettings {
  const fields = new Fields(value, "", problem);
  const settings = new RouteSettings();
  const specifier = fields.object("priority_group");
  if (specifier != null) settings.priorityGroup = readSpecifier(specifier, problem);
  settings.cluster = fields.text("cluster");
  settings.compositeClusters = readComposites(fields, problem);
  if (specifier == null) requireComposite(settings, problem);
  else if (settings.cluster.length > 0) problem.note("cluster", "no cluster beside priority_group", "one");
  settings.skipClustersWithoutHosts = optionalFlag(fields, "skip_clusters_without_hosts");
  settings.refreshClusterOnRetry = optionalFlag(fields, "refresh_cluster_on_retry");
  readAvailability(fields, settings);
  const policies = fields.list("hash_policy");
  for (let i = 0; i < policies.length; i++) {
    settings.hashPolicy.push(readHashPolicy(fields.element("hash_policy", i, policies[i]), problem));
  }
  settings.slotForm = fields.choice("slot_form", ["SLOT_PER_ATTEMPT", "ONE_SLOT"]);
  settings.slots = max(1, fields.whole("slots", 1, MAX_SLOTS));
  settings.pin = fields.flag("pin");
  settings.readMetadataPerAttempt = fields.flag("read_metadata_per_attempt");
  fields.finish();
  return settings;
}

function requireComposite(settings: RouteSettings, problem: Problem): void {
  const composites = settings.compositeClusters;
  for (let i = 0; i < composites.length; i++) {
    if (composites[i].name == settings.cluster) return;
  }
  if (settings.cluster.length == 0) problem.note("priority_group", "the route's priority groups", "nothing");
  else problem.note("cluster", "one of the composite_clusters", '"' + settings.cluster + '"');
}

function optionalFlag(fields: Fields, name: string): BoolValue | null {
  return fields.find(name) == null ? null : new BoolValue(fields.flag(name));
}

function readAvailability(fields: Fields, settings: RouteSettings): void {
  settings.availability = fields.choice("availability", ["PROBE", "ADMIN"]);
  settings.availabilityIntervalMs = fields.whole("availability_interval_ms", 10, 60000);
}

function readSpecifier(fields: Fields, problem: Problem): PriorityGroupClusterSpecifier {
  const specifier = new PriorityGroupClusterSpecifier();
  const groups = fields.requiredList("priority_groups", "group");
  for (let i = 0; i < groups.length; i++) {
    specifier.priorityGroups.push(readGroup(fields.element("priority_groups", i, groups[i])));
  }
  specifier.overrideMetadataNamespace = fields.text("override_metadata_namespace");
  const hasHeader = fields.find("header_name") != null;
  specifier.headerName = fields.text("header_name");
  if (!isHeaderName(specifier.headerName)) {
    problem.note(fields.at("header_name"), "a header name without control characters", "one with");
  }
  if (fields.find("use_hash_policy") != null) {
    if (hasHeader) problem.note(fields.at("use_hash_policy"), "one random value source", "header_name beside it");
    specifier.useHashPolicy = new BoolValue(fields.flag("use_hash_policy"));
  }
  fields.finish();
  return specifier;
}

function readGroup(fields: Fields): PriorityGroup {
  const group = new PriorityGroup();
  group.name = fields.requiredText("name");
  const clusters = fields.requiredList("clusters", "cluster");
  for (let i = 0; i < clusters.length; i++) {
    const cluster = fields.element("clusters", i, clusters[i]);
    const name = cluster.requiredText("cluster_name");
    const weight = cluster.requiredWhole("weight", 1, u32.MAX_VALUE);
    cluster.finish();
    group.clusters.push(new ClusterWeight(name, new UInt32Value(weight)));
  }
  fields.finish();
  return group;
}

function readHashPolicy(fields: Fields, problem: Problem): HashPolicy {
  const policy = new HashPolicy();
  const header = fields.object("header");
  const cookie = fields.object("cookie");
  const connection = fields.object("connection_properties");
  const query = fields.object("query_parameter");
  let sources = 0;
  if (header != null) {
    policy.header = new Header(header.requiredText("header_name"));
    header.finish();
    sources++;
  }
  if (cookie != null) {
    policy.cookie = new Cookie(cookie.requiredText("name"));
    cookie.finish();
    sources++;
  }
  if (connection != null) {
    policy.connectionProperties = new ConnectionProperties(connection.flag("source_ip"));
    connection.finish();
    sources++;
  }
  if (query != null) {
    policy.queryParameter = new QueryParameter(query.requiredText("name"));
    query.finish();
    sources++;
  }
  policy.terminal = fields.flag("terminal");
  if (sources != 1) {
    problem.note(
      fields.at("policy_specifier"),
      "one of header, cookie, connection_properties, query_parameter",
      sources.toString() + " of them",
    );
  }
  fields.finish();
  return policy;
}

function isHeaderName(name: string): bool {
  for (let i = 0; i < name.length; i++) {
    const char = name.charCodeAt(i);
    if (char == 0 || char == 0x0a || char == 0x0d) return false;
  }
  return true;
}
