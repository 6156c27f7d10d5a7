// Filters before the module: each one of which `lower` knows what it may change runs natively and lowered, and does the same.

import { createHmac } from "node:crypto";
import { describe, expect, test, vi } from "vitest";
import { KNOWN_FILTERS } from "../../cli/choose/moving-filters.js";
import { lower } from "../../cli/lower.js";
import { compare } from "../differential/compare.js";
import type { Case, Config, RequestSpec } from "../support/case.js";
import { WASM } from "../support/lowering.js";

vi.setConfig({ maxConcurrency: 2 });

const TYPE = "type.googleapis.com/envoy.extensions";
const GONE = { envoy_grpc: { cluster_name: "gone" }, timeout: "0.2s" };

interface Row {
  /** What follows the filter types' common prefix. */
  type: string;
  config: Config;
  /** Of every request. */
  headers?: Record<string, string>;
  /** Of the route with priority groups. */
  perRoute?: Config;
  /** Why the route does not get the cheaper form; nothing where it does. */
  moves?: string;
}

const secret = Buffer.from("a secret that only this test knows");
const token = jwt({ iss: "me", role: "gold" });
const provider = {
  issuer: "me",
  local_jwks: {
    inline_string: JSON.stringify({ keys: [{ kty: "oct", alg: "HS256", k: secret.toString("base64url") }] }),
  },
};
const jwtRules = [{ match: { prefix: "/" }, requires: { provider_name: "p" } }];

const gzip = { name: "gzip", typed_config: { "@type": `${TYPE}.compression.gzip.compressor.v3.Gzip` } };
const gunzip = { name: "gzip", typed_config: { "@type": `${TYPE}.compression.gzip.decompressor.v3.Gzip` } };
const always = { default_value: { numerator: 100 }, runtime_key: "k" };

// A session's cookie holds the endpoint's port, which is another one for each Envoy.
const noCookie = { mutations: { response_mutations: [{ remove: "set-cookie" }] } };

const ROWS: Row[] = [
  {
    type: "adaptive_concurrency.v3.AdaptiveConcurrency",
    config: {
      gradient_controller_config: {
        concurrency_limit_params: { concurrency_update_interval: "0.1s" },
        min_rtt_calc_params: { interval: "60s", request_count: 50 },
      },
    },
  },
  {
    type: "admission_control.v3.AdmissionControl",
    config: { success_criteria: { http_criteria: { http_success_status: [{ start: 100, end: 600 }] } } },
  },
  { type: "bandwidth_limit.v3.BandwidthLimit", config: { stat_prefix: "b", enable_mode: "REQUEST", limit_kbps: 1000 } },
  {
    type: "basic_auth.v3.BasicAuth",
    config: {
      users: {
        inline_string: `u:{SHA}${Buffer.from("5baa61e4c9b93f3f0682250b6cf8331b7ee68fd8", "hex").toString("base64")}`,
      },
      forward_username_header: "x-user",
    },
    headers: { authorization: `Basic ${Buffer.from("u:password").toString("base64")}` },
  },
  { type: "buffer.v3.Buffer", config: { max_request_bytes: 1024 } },
  {
    type: "compressor.v3.Compressor",
    config: { compressor_library: gzip, response_direction_config: { remove_accept_encoding_header: true } },
    headers: { "accept-encoding": "gzip" },
  },
  {
    type: "cors.v3.Cors",
    config: {},
    headers: { origin: "http://a.test" },
    perRoute: {
      "@type": `${TYPE}.filters.http.cors.v3.CorsPolicy`,
      allow_origin_string_match: [{ exact: "http://a.test" }],
    },
  },
  { type: "csrf.v3.CsrfPolicy", config: { filter_enabled: always }, headers: { origin: "http://case.test" } },
  { type: "decompressor.v3.Decompressor", config: { decompressor_library: gunzip } },
  { type: "ext_authz.v3.ExtAuthz", config: authz({}) },
  {
    type: "ext_authz.v3.ExtAuthz",
    config: authz({ authorization_response: { allowed_upstream_headers: { patterns: [{ exact: "x-tier" }] } } }),
    moves: "may change :authority, which the route was matched on",
  },
  {
    type: "ext_authz.v3.ExtAuthz",
    config: { ...authz({}), clear_route_cache: true },
    moves: "may select the route again",
  },
  { type: "fault.v3.HTTPFault", config: { delay: { fixed_delay: "0.002s", percentage: { numerator: 100 } } } },
  { type: "grpc_stats.v3.FilterConfig", config: { emit_filter_state: true, stats_for_all_methods: true } },
  {
    type: "grpc_web.v3.GrpcWeb",
    config: {},
    moves: "may change headers, which the route was matched on",
  },
  { type: "header_mutation.v3.HeaderMutation", config: adds("x-other") },
  {
    type: "header_mutation.v3.HeaderMutation",
    config: adds("X-Tier"),
    moves: "may change x-tier, which the route was matched on",
  },
  {
    type: "header_mutation.v3.HeaderMutation",
    config: {},
    perRoute: { "@type": `${TYPE}.filters.http.header_mutation.v3.HeaderMutationPerRoute`, ...adds("x-tier") },
    moves: "may change x-tier, which the route was matched on",
  },
  {
    type: "header_to_metadata.v3.Config",
    config: { request_rules: [{ header: "x-unmatched", on_header_present: { key: "k" }, remove: true }] },
    headers: { "x-unmatched": "1" },
  },
  {
    type: "header_to_metadata.v3.Config",
    config: { request_rules: [{ header: "x-leave", on_header_present: { key: "k" }, remove: true }] },
    headers: { "x-leave": "1" },
    moves: "may change x-leave, which the route was matched on",
  },
  {
    type: "health_check.v3.HealthCheck",
    config: { pass_through_mode: false, headers: [{ name: ":path", string_match: { exact: "/healthz" } }] },
  },
  {
    type: "json_to_metadata.v3.JsonToMetadata",
    config: { request_rules: { rules: [{ selectors: [{ key: "m" }], on_missing: { key: "m", value: "x" } }] } },
    headers: { "content-type": "application/json" },
  },
  {
    type: "jwt_authn.v3.JwtAuthentication",
    config: { providers: { p: { ...provider, forward: true, forward_payload_header: "x-payload" } }, rules: jwtRules },
    headers: { authorization: `Bearer ${token}` },
  },
  {
    type: "jwt_authn.v3.JwtAuthentication",
    config: {
      providers: { p: { ...provider, claim_to_headers: [{ header_name: "x-tier", claim_name: "role" }] } },
      rules: jwtRules,
    },
    headers: { authorization: `Bearer ${token}` },
    moves: "may change x-tier, which the route was matched on",
  },
  {
    type: "jwt_authn.v3.JwtAuthentication",
    config: { providers: { p: { ...provider, clear_route_cache: true } }, rules: jwtRules },
    headers: { authorization: `Bearer ${token}` },
    moves: "may select the route again",
  },
  { type: "local_ratelimit.v3.LocalRateLimit", config: limit("x-limited") },
  {
    type: "local_ratelimit.v3.LocalRateLimit",
    config: limit("x-tier"),
    moves: "may change x-tier, which the route was matched on",
  },
  {
    type: "ratelimit.v3.RateLimit",
    config: { domain: "d", timeout: "0.2s", rate_limit_service: { grpc_service: GONE, transport_api_version: "V3" } },
    moves: "may change headers, which the route was matched on",
  },
  {
    type: "rbac.v3.RBAC",
    config: { rules: { policies: { all: { permissions: [{ any: true }], principals: [{ any: true }] } } } },
  },
  { type: "set_metadata.v3.Config", config: { metadata: [{ metadata_namespace: "n", value: { k: "v" } }] } },
  {
    type: "stateful_session.v3.StatefulSession",
    config: {
      session_state: {
        name: "envoy.http.stateful_session.cookie",
        typed_config: {
          "@type": `${TYPE}.http.stateful_session.cookie.v3.CookieBasedSessionState`,
          cookie: { name: "s", path: "/" },
        },
      },
    },
  },
];

test("every known filter has a row", () => {
  expect([...new Set(ROWS.map(({ type }) => type))]).toEqual(KNOWN_FILTERS);
});

describe.concurrent.each(ROWS)("$type", (row) => {
  test(row.moves ?? "keeps the request", async () => {
    const testCase = caseOf(row);
    let text = "";
    const verdict = await compare(testCase, undefined, (native) => (text = native));
    expect(verdict).toEqual({ kind: "equal", requests: testCase.requests.length });
    const { routes } = lower(text, { wasm: WASM }).report;
    const { form, declined } = routes.find(({ route }) => route === "groups") ?? { form: "", declined: [] };
    const because = declined.find((one) => one.form === "slots, a filter for each")?.because;
    expect([form, because]).toEqual(
      row.moves === undefined ? ["slots, a filter for each", undefined] : ["slots", `the filter first ${row.moves}`],
    );
  });
});

/** A route that the filter could move a request to stands before the one with the priority groups. */
function caseOf({ type, config, headers = {}, perRoute }: Row): Case {
  const pick = (value: string): RequestSpec => ({ path: "/x", headers: { ...headers, "x-pick": value } });
  const json: RequestSpec = { ...pick("1"), body: '{"m": "n"}' };
  return {
    file: `${type}.yaml`,
    name: type,
    about: "a filter before the module",
    upstreams: { a: 200, b: 503, c: 200, other: 200, auth: { status: 200, headers: { "x-tier": "gold" } } },
    clusters: { gone: [] },
    http_filters: [
      {
        name: "last",
        typed_config: { "@type": `${TYPE}.filters.http.header_mutation.v3.HeaderMutation`, ...noCookie },
      },
      { name: "first", typed_config: { "@type": `${TYPE}.filters.http.${type}`, ...config } },
    ],
    route_config: {
      name: "rc",
      virtual_hosts: [
        {
          name: "v",
          domains: ["*"],
          routes: [
            { match: { prefix: "/", headers: [{ name: "x-tier", present_match: true }] }, route: { cluster: "other" } },
            {
              match: {
                prefix: "/",
                headers: [
                  { name: "x-leave", present_match: false },
                  { name: "x-in", string_match: { exact: "no" } },
                ],
              },
              route: { cluster: "other" },
            },
            {
              match: { prefix: "/" },
              name: "groups",
              ...(perRoute && { typed_per_filter_config: { first: perRoute } }),
              route: {
                ...groups(),
                retry_policy: { retry_on: "5xx", num_retries: 1, refresh_cluster_on_retry: true },
              },
            },
          ],
        },
      ],
    },
    observe: { flags: true, details: true },
    requests: [pick("0"), pick("1"), json],
  };
}

function groups(): Config {
  const specifier = {
    "@type": `${TYPE}.router.cluster_specifiers.priority_group.v3.PriorityGroupClusterSpecifier`,
    header_name: "x-pick",
    priority_groups: [
      {
        name: "g1",
        clusters: [
          { cluster_name: "a", weight: 1 },
          { cluster_name: "b", weight: 1 },
        ],
      },
      { name: "g2", clusters: [{ cluster_name: "c", weight: 1 }] },
    ],
  };
  const extension = { name: "envoy.router.cluster_specifier_plugin.priority_group", typed_config: specifier };
  return { inline_cluster_specifier_plugin: { extension } };
}

function adds(key: string): Config {
  return { mutations: { request_mutations: [{ append: { header: { key, value: "1" } } }] } };
}

function limit(key: string): Config {
  return {
    stat_prefix: "l",
    token_bucket: { max_tokens: 1, fill_interval: "60s" },
    filter_enabled: always,
    filter_enforced: { default_value: { numerator: 0 }, runtime_key: "e" },
    request_headers_to_add_when_not_enforced: [{ header: { key, value: "1" } }],
  };
}

function authz(service: Config): Config {
  return {
    http_service: { server_uri: { uri: "http://auth.test", cluster: "auth", timeout: "1s" }, ...service },
    transport_api_version: "V3",
  };
}

function jwt(payload: object): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString("base64url");
  const signed = `${part({ alg: "HS256", typ: "JWT" })}.${part(payload)}`;
  return `${signed}.${createHmac("sha256", secret).update(signed).digest("base64url")}`;
}
