import { encodeMetadata, type RequestSpec } from "../../cli/host/index.js";
import { groupOf, routeWith, settingsOf } from "./routes.js";
import { specifiedRequest, specifier, template } from "./specifier-routes.js";

const GROUPS = [groupOf(1, 2, 3), groupOf(1, 1)];
const HASH_POLICY = [
  { header: { header_name: "x-key" } },
  { cookie: { name: "c" } },
  { query_parameter: { name: "q" } },
  { connection_properties: { source_ip: true } },
];
const COMPOSITES = [{ name: "all", clusters: ["c0", "c1", "c2"] }];

const override = (groups: object[], padding = 0) =>
  encodeMetadata({
    filter_metadata: { o: { priority_groups: groups as never }, other: { text: "x".repeat(padding) } },
  });
const overridden = routeWith(settingsOf(GROUPS, { override_metadata_namespace: "o" }));
const when = { headers: [{ name: "x-tier", string_match: { exact: "GOLD", ignore_case: true } }] };

/** One request per capability, those that fall back included. */
export const REQUESTS: Readonly<Record<string, RequestSpec>> = {
  "no settings": { routeName: "plain" },
  weights: routeWith(settingsOf(GROUPS)),
  header_name: { ...routeWith(settingsOf(GROUPS, { header_name: "x-pick" })), headers: { "x-pick": "5" } },
  "header_name, no number": {
    ...routeWith(settingsOf(GROUPS, { header_name: "x-pick" })),
    headers: { "x-pick": "x".repeat(9000) },
  },
  "hash policies": {
    ...routeWith(settingsOf(GROUPS, { use_hash_policy: true }, { hash_policy: HASH_POLICY })),
    headers: { "x-key": ["a", "b"], cookie: "c=1", ":path": "/?q=1" },
    sourceAddress: "192.0.2.1:1234",
  },
  override: { ...overridden, dynamicMetadata: override([{ name: "g", clusters: [{ cluster_name: "z", weight: 1 }] }]) },
  "override, large": { ...overridden, dynamicMetadata: override([{ name: "g" }], 100_000) },
  "override, wrong": { ...overridden, dynamicMetadata: override([{ name: "unknown" }, { name: 1 }]) },
  "one slot": routeWith(settingsOf(GROUPS, {}, { slot_form: "ONE_SLOT" })),
  composite: routeWith({ cluster: "all", composite_clusters: COMPOSITES, slots: 3 }),
  "client's attempt count": { ...routeWith(settingsOf(GROUPS)), headers: { "x-envoy-attempt-count": "7" } },
  "specifiers: override": specifiedRequest({
    route: [
      specifier("RouteOverride", {
        when,
        cluster: "d",
        timeout: "1s",
        retry_policy: { retry_on: "5xx", num_retries: 2, retriable_status_codes: [429] },
        request_headers_to_add: [{ header: { key: "x-a", value: "b" } }],
        response_headers_to_add: [{ header: { key: "x-c", value: "d" } }],
      }),
      specifier("Audit", { log: true, counter: "seen", response_header: "x-audit" }),
    ],
  }),
  "specifiers: groups": specifiedRequest({
    virtual_host: [specifier("RouteOverride", { priority_groups: GROUPS as never })],
  }),
  "specifiers: template": specifiedRequest({ route_configuration: [template("other", { cluster: "e" })] }),
  "specifiers: no route": specifiedRequest({ virtual_host: [specifier("DropRoute")] }, null),
};
