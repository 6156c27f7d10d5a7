// The settings of a route, from a value tree to the messages of proto/attempt_router/v1/settings.proto. This is the one
// place that knows what legal settings are; the command line runs it too.

import { Availability } from "../proto/attempt_router/v1/Availability";
import { HashPolicy } from "../proto/attempt_router/v1/HashPolicy";
import { ConnectionProperties } from "../proto/attempt_router/v1/HashPolicy/ConnectionProperties";
import { Cookie } from "../proto/attempt_router/v1/HashPolicy/Cookie";
import { Header } from "../proto/attempt_router/v1/HashPolicy/Header";
import { QueryParameter } from "../proto/attempt_router/v1/HashPolicy/QueryParameter";
import { Pick } from "../proto/attempt_router/v1/Pick";
import { RouteSettings } from "../proto/attempt_router/v1/RouteSettings";
import { PriorityGroupClusterSpecifier } from "../proto/envoy/extensions/router/cluster_specifiers/priority_group/v3/PriorityGroupClusterSpecifier";
import { BoolValue } from "../proto/google/protobuf/BoolValue";
import { decimal } from "../text";
import { readComposites } from "./composites";
import { Fields } from "./fields";
import { readGroups } from "./groups";

/** More slots than any retry policy makes use of; the matcher tree grows with them. */
export const MAX_SLOTS: u32 = 100;

/**
 * Reads a route's settings, all but its route specifiers; what is wrong with them is noted in the problem of `fields`,
 * and the result then means nothing.
 */
export function readRouteSettings(fields: Fields, needsGroups: bool): RouteSettings {
  const settings = new RouteSettings();
  const specifier = fields.object("priority_group");
  if (specifier != null) settings.priorityGroup = readSpecifier(specifier);
  settings.cluster = fields.text("cluster");
  settings.compositeClusters = readComposites(fields);
  if (specifier == null) requireComposite(fields, settings, needsGroups);
  else if (settings.cluster.length > 0) fields.note("cluster", "no cluster beside priority_group", "one");
  settings.skipClustersWithoutHosts = optionalFlag(fields, "skip_clusters_without_hosts");
  settings.refreshClusterOnRetry = optionalFlag(fields, "refresh_cluster_on_retry");
  settings.availability = readAvailability(fields);
  settings.availabilityIntervalMs = readInterval(fields);
  const policies = fields.list("hash_policy");
  for (let i = 0; i < policies.length; i++) {
    settings.hashPolicy.push(readHashPolicy(fields.element("hash_policy", i, policies[i])));
  }
  settings.slotForm = fields.choice("slot_form", ["SLOT_PER_ATTEMPT", "ONE_SLOT", "HEADERS"]);
  settings.slots = max(1, fields.whole("slots", 1, MAX_SLOTS));
  settings.pin = fields.flag("pin");
  settings.readMetadataPerAttempt = fields.flag("read_metadata_per_attempt");
  settings.avoidTriedClusters = fields.flag("avoid_tried_clusters");
  settings.pick = fields.choice("pick", ["WEIGHTED", "RENDEZVOUS"]);
  if (settings.pick == Pick.RENDEZVOUS) requireKey(fields, specifier != null ? settings.priorityGroup : null);
  return settings;
}

function requireKey(fields: Fields, specifier: PriorityGroupClusterSpecifier | null): void {
  const hash = specifier != null ? specifier.useHashPolicy : null;
  if (specifier != null && (specifier.headerName.length > 0 || (hash != null && hash.value))) return;
  fields.note("pick", "header_name or use_hash_policy in the specifier beside RENDEZVOUS", "none");
}

function requireComposite(fields: Fields, settings: RouteSettings, needsGroups: bool): void {
  if (settings.cluster.length == 0 && !needsGroups) return;
  const composites = settings.compositeClusters;
  for (let i = 0; i < composites.length; i++) {
    if (composites[i].name == settings.cluster) return;
  }
  if (settings.cluster.length == 0) fields.note("priority_group", "the route's priority groups", "nothing");
  else fields.note("cluster", "one of the composite_clusters", '"' + settings.cluster + '"');
}

function optionalFlag(fields: Fields, name: string): BoolValue | null {
  return fields.find(name) == null ? null : new BoolValue(fields.flag(name));
}

/** Reads the field `availability`. */
export function readAvailability(fields: Fields): Availability {
  return fields.choice("availability", ["PROBE", "ADMIN", "AGGREGATE"]);
}

/** Reads the field `availability_interval_ms`; 0 where it is absent. */
export function readInterval(fields: Fields): u32 {
  return fields.whole("availability_interval_ms", 10, 60000);
}

function readSpecifier(fields: Fields): PriorityGroupClusterSpecifier {
  const specifier = new PriorityGroupClusterSpecifier();
  specifier.priorityGroups = readGroups(fields);
  specifier.overrideMetadataNamespace = fields.text("override_metadata_namespace");
  const hasHeader = fields.find("header_name") != null;
  specifier.headerName = fields.text("header_name");
  if (!isHeaderName(specifier.headerName)) {
    fields.note("header_name", "a header name without control characters", "one with");
  }
  if (fields.find("use_hash_policy") != null) {
    if (hasHeader) fields.note("use_hash_policy", "one random value source", "header_name beside it");
    specifier.useHashPolicy = new BoolValue(fields.flag("use_hash_policy"));
  }
  fields.finish();
  return specifier;
}

function readHashPolicy(fields: Fields): HashPolicy {
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
    fields.note(
      "policy_specifier",
      "one of header, cookie, connection_properties, query_parameter",
      decimal(sources) + " of them",
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
