// Which filters before the module may move a request: select its route again, or change what the route was matched on.
// The module selects the route again itself, so that such a change would lead to another route than natively.

import type { Filter, FilterChain } from "../model/filters.js";
import { isMessage, listOf, messageOf, textOf } from "../model/json.js";
import type { Json, JsonMessage } from "../model/origin.js";
import type { ConnectionManager } from "../model/program.js";
import type { Level, Route, RouteConfiguration, VirtualHost } from "../model/route.js";
import type { Reason } from "./delivery.js";
import { chainsOf, earlierFilters, type Placing } from "./filter-chain.js";

/** What a filter changes and a match looks at: a header's name in lower case, or one of the following. */
type Subject = string;

/** Any header but the pseudo headers. */
const ANY_HEADER = "headers";
const QUERY = "query parameters";
const METADATA = "dynamic metadata";
const FILTER_STATE = "filter state";
const EVERYTHING = "everything";

/** Part of every match. */
const ALWAYS_MATCHED = [":authority", ":method", ":path", ":scheme"];

/** What a configuration of a filter lets it change; "selects": it may select the route again. */
type Effect = (config: JsonMessage) => readonly Subject[] | "selects";

const PREFIX = "type.googleapis.com/envoy.extensions.filters.http.";
const BODY_HEADERS = ["accept-encoding", "content-encoding", "content-length", "transfer-encoding"];

/** Filters that are not listed may do anything. `tests/envoy/moving-filters.test.ts` runs each row against native Envoy. */
const EFFECTS: Readonly<Record<string, Effect>> = {
  "adaptive_concurrency.v3.AdaptiveConcurrency": () => [],
  "admission_control.v3.AdmissionControl": () => [],
  "bandwidth_limit.v3.BandwidthLimit": () => [],
  "basic_auth.v3.BasicAuth": (config) => [METADATA, ...namesAt(config, "forward_username_header")],
  "buffer.v3.Buffer": () => BODY_HEADERS,
  "compressor.v3.Compressor": () => BODY_HEADERS,
  "cors.v3.Cors": () => [],
  "csrf.v3.CsrfPolicy": () => [],
  "decompressor.v3.Decompressor": () => BODY_HEADERS,
  "ext_authz.v3.ExtAuthz": extAuthz,
  "fault.v3.HTTPFault": () => [],
  "grpc_stats.v3.FilterConfig": () => [FILTER_STATE],
  "grpc_web.v3.GrpcWeb": () => [ANY_HEADER],
  "header_mutation.v3.HeaderMutation": headerMutation,
  "header_to_metadata.v3.Config": headerToMetadata,
  "health_check.v3.HealthCheck": () => [],
  "json_to_metadata.v3.JsonToMetadata": () => [METADATA],
  "jwt_authn.v3.JwtAuthentication": jwtAuthn,
  "local_ratelimit.v3.LocalRateLimit": (config) => [
    METADATA,
    ...listOf(config["request_headers_to_add_when_not_enforced"]).flatMap(addedHeader),
  ],
  "ratelimit.v3.RateLimit": () => [ANY_HEADER, METADATA],
  "rbac.v3.RBAC": () => [METADATA],
  "set_metadata.v3.Config": () => [METADATA],
  "stateful_session.v3.StatefulSession": () => [],
};

/** The types of filters, without what they have in common, of which it is known what they may change. */
export const KNOWN_FILTERS: readonly string[] = Object.keys(EFFECTS);

/** Why a request may leave the route that it met the filter chain on, before the module decides. */
export function movedBy(manager: ConnectionManager, placing: Placing): Reason | undefined {
  const matched = matchedOn(manager);
  const filters = chainsOf(manager).flatMap((chain) => earlierFilters(chain, placing));
  return filters.map((filter) => moves(filter, manager, matched)).find((reason) => reason !== undefined);
}

/** Whether the route may not be there when a request meets the module, since an earlier filter has cleared the route cache. */
export function clearsRoute(chain: FilterChain, placing: Placing): boolean {
  return earlierFilters(chain, placing).some((filter) => changesOf(filter, filter.config?.value) === "selects");
}

function moves(filter: Filter, manager: ConnectionManager, matched: ReadonlySet<Subject>): Reason | undefined {
  const configs = [filter.config?.value, ...perFilterConfigs(manager, filter.name)];
  const [name, at] = [nameOf(filter), filter.origin];
  for (const changes of configs.map((config) => changesOf(filter, config))) {
    if (changes === "selects") return { because: `the filter ${name} may select the route again`, at };
    const subject = changes.find((one) => isMatched(one, matched));
    if (subject === undefined) continue;
    return { because: `the filter ${name} may change ${subject}, which the route was matched on`, at };
  }
  return undefined;
}

function changesOf({ type }: Filter, config: Json | undefined): readonly Subject[] | "selects" {
  const effect = type?.startsWith(PREFIX) === true ? EFFECTS[type.slice(PREFIX.length)] : undefined;
  return effect === undefined ? "selects" : effect(messageOf(config));
}

/** What routes, virtual hosts and route configurations say for a filter, out of Envoy's wrapper for it. */
function perFilterConfigs({ routeConfigurations }: ConnectionManager, name: string): Json[] {
  const levels = routeConfigurations.flatMap((config): Level[] => [config, ...config.virtualHosts.flatMap(levelsOf)]);
  const configs = levels.flatMap(({ perFilter }) => perFilter).filter((one) => one.name === name);
  return configs.map(({ json }) => (isMessage(json) && "config" in json ? (json["config"] ?? null) : json));
}

function levelsOf(host: VirtualHost): Level[] {
  return [host, ...host.routes];
}

function isMatched(subject: Subject, matched: ReadonlySet<Subject>): boolean {
  if (matched.has(EVERYTHING) || matched.has(subject)) return true;
  return subject === ANY_HEADER && [...matched].some((one) => /^[^: ]+$/.test(one));
}

/** What the matches of all routes look at. */
function matchedOn({ routeConfigurations, dynamicRoutes, source }: ConnectionManager): ReadonlySet<Subject> {
  const isOpen = dynamicRoutes || source.kind === "scoped" || routeConfigurations.some(isOpenTable);
  if (isOpen) return new Set([EVERYTHING]);
  const hosts = routeConfigurations.flatMap(({ virtualHosts }) => virtualHosts);
  return new Set([...ALWAYS_MATCHED, ...hosts.flatMap(({ routes }) => routes.flatMap(matchOf))]);
}

function isOpenTable({ vhds, vhostHeader, virtualHosts }: RouteConfiguration): boolean {
  return vhds || vhostHeader !== undefined || virtualHosts.some(({ matcher }) => matcher !== undefined);
}

function matchOf({ match }: Route): Subject[] {
  const headers = match.headers.map(({ name }) => headerName(name));
  return [
    ...headers,
    ...(match.queryParameters.length > 0 || headers.includes(":path") ? [QUERY] : []),
    ...(match.cookies.length > 0 ? ["cookie"] : []),
    ...(match.grpc ? ["content-type"] : []),
    ...(match.dynamicMetadata.length > 0 ? [METADATA] : []),
    ...(match.filterState.length > 0 ? [FILTER_STATE] : []),
    ...(match.others.length > 0 ? [EVERYTHING] : []),
  ];
}

function headerMutation(config: JsonMessage): Subject[] {
  const mutations = messageOf(config["mutations"]);
  const headers = listOf(mutations["request_mutations"]).flatMap((mutation) => {
    if ("remove_on_match" in mutation) return [ANY_HEADER];
    return [...addedHeader(mutation["append"]), ...namesAt(mutation, "remove")];
  });
  return listOf(mutations["query_parameter_mutations"]).length > 0 ? [...headers, QUERY] : headers;
}

function headerToMetadata(config: JsonMessage): Subject[] {
  const removing = listOf(config["request_rules"]).filter(({ remove }) => remove === true);
  return [METADATA, ...removing.flatMap((rule) => ("header" in rule ? namesAt(rule, "header") : ["cookie"]))];
}

/** A token that is not forwarded is taken out of the request. */
function jwtAuthn(config: JsonMessage): Subject[] | "selects" {
  const providers = Object.values(messageOf(config["providers"])).map(messageOf);
  if (providers.some(({ clear_route_cache: clears }) => clears === true)) return "selects";
  const statusHeaders = textsNamed(config, "verification_status_header").map(headerName);
  return [METADATA, ...statusHeaders, ...providers.flatMap(jwtProvider)];
}

function jwtProvider(provider: JsonMessage): Subject[] {
  const sources = listOf(provider["from_headers"]).flatMap((source) => namesAt(source, "name"));
  const taken = provider["forward"] === true ? [] : ["authorization", "cookie", QUERY, ...sources];
  const claims = listOf(provider["claim_to_headers"]).flatMap((claim) => namesAt(claim, "header_name"));
  return [...taken, ...claims, ...namesAt(provider, "forward_payload_header")];
}

/** What the authorization service may add to the request. */
function extAuthz(config: JsonMessage): readonly Subject[] | "selects" {
  if (config["clear_route_cache"] === true || "clear_route_cache_headers" in config) return "selects";
  const settings = messageOf(config["check_settings"]);
  const services = [config, settings].map((one) => one["http_service"]).filter((one) => one !== undefined);
  const answers = services.map((one) => messageOf(messageOf(one)["authorization_response"]));
  const isOpen = answers.some((answer) =>
    ["allowed_upstream_headers", "allowed_upstream_headers_to_append"].some((field) => field in answer),
  );
  if (isOpen) return ALWAYS_MATCHED;
  return [METADATA, "x-envoy-auth-failure-mode-allowed", ...grpcService(config, settings)];
}

/** A service that is called by gRPC may set any header, pseudo headers included, unless rules forbid it. */
function grpcService(config: JsonMessage, settings: JsonMessage): readonly Subject[] {
  if (!("grpc_service" in config || "grpc_service" in settings)) return [];
  const rules = messageOf(config["decoder_header_mutation_rules"]);
  if (rules["disallow_all"] === true) return [QUERY];
  const keepsRouting = "decoder_header_mutation_rules" in config && rules["allow_all_routing"] !== true;
  return keepsRouting && !("allow_expression" in rules) ? [ANY_HEADER, QUERY] : ALWAYS_MATCHED;
}

/** The header of a HeaderValueOption. */
function addedHeader(option: Json | undefined): Subject[] {
  return namesAt(messageOf(messageOf(option)["header"]), "key");
}

function namesAt(message: JsonMessage, field: string): Subject[] {
  const name = textOf(message[field]);
  return name === undefined || name === "" ? [] : [headerName(name)];
}

/** The texts of a field, wherever it stands in a message. */
function textsNamed(json: Json, field: string): string[] {
  if (Array.isArray(json)) return (json as readonly Json[]).flatMap((item) => textsNamed(item, field));
  if (!isMessage(json)) return [];
  return Object.entries(json).flatMap(([key, value]) =>
    key === field && typeof value === "string" ? [value] : textsNamed(value, field),
  );
}

function headerName(name: string): Subject {
  const lower = name.toLowerCase();
  return lower === "host" ? ":authority" : lower;
}

function nameOf({ name }: Filter): string {
  return name === "" ? "without name" : name;
}
