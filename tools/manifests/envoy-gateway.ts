import { lowerResources, ROUTER, type Message, type Names } from "./native.js";

const TARGET = { group: "gateway.networking.k8s.io", kind: "Gateway", name: "eg" };
const RULE = "httproute/default/llm/rule";

/** The name that Envoy Gateway gives to the filter of the policy below. */
export const EXTENSION_FILTER = "envoy.filters.http.wasm/envoyextensionpolicy/default/attempt-router/wasm/0";

/** What Envoy Gateway generates for a listener `http` of a gateway `eg`, with an HTTPRoute `llm` of two rules. */
export const GATEWAY: Names = {
  listener: "default/eg/http",
  routes: "default/eg/http",
  virtualHost: "default/eg/http/*",
  route: `${RULE}/0/match/0/*`,
  cluster: (service) => `${RULE}/${service === "provider-a" ? 0 : 1}`,
  filters: [],
  action: { upgrade_configs: [{ upgrade_type: "websocket" }] },
};

/** Where Envoy Gateway puts the filters of a listener without TLS; with TLS, it is a filter chain of its own. */
const HTTP_FILTERS = "/default_filter_chain/filters/0/typed_config/http_filters";
const TYPE = "type.googleapis.com/envoy.config.";

/** The policies that bring a gateway to what `lower` makes of its listener and routes. */
export function policies(image: string, attemptHeader: boolean): [Message, Message] {
  return [extensionPolicy(image), patchPolicy(attemptHeader)];
}

/** Puts the module in front of the router, pulled by Envoy Gateway and served to Envoy over HTTP. */
function extensionPolicy(image: string): Message {
  const code = { type: "Image", image: { url: `oci://${image}` } };
  const wasm = [{ name: "attempt_router", rootID: "downstream", failOpen: true, code }];
  return {
    apiVersion: "gateway.envoyproxy.io/v1alpha1",
    kind: "EnvoyExtensionPolicy",
    metadata: { name: "attempt-router", namespace: "default" },
    spec: { targetRefs: [TARGET], wasm },
  };
}

function patchPolicy(attemptHeader: boolean): Message {
  const { upstreamFilters, virtualHost } = lowerResources(GATEWAY, attemptHeader);
  const [route] = virtualHost.routes;
  if (virtualHost.routes.length !== 1 || route === undefined) throw new Error("expected one route");
  const counts = virtualHost["include_request_attempt_count"] === true;
  // Found by name: which index a route has depends on the other routes. Its name is changed last.
  const jsonPatches = [
    ...(counts ? [onRoutes("virtual_hosts", GATEWAY.virtualHost, "/include_request_attempt_count", true)] : []),
    onRoute("/metadata/filter_metadata/attempt_router", settingsOf(route)),
    onRoute("/route", route["route"]),
    onRoute("/name", route["name"]),
    ...(upstreamFilters === undefined ? [] : upstreamPatches(upstreamFilters)),
  ];
  return {
    apiVersion: "gateway.envoyproxy.io/v1alpha1",
    kind: "EnvoyPatchPolicy",
    metadata: { name: "attempt-router", namespace: "default" },
    spec: { targetRef: TARGET, type: "JSONPatch", jsonPatches },
  };
}

function settingsOf(route: Message): unknown {
  return (route["metadata"] as { filter_metadata: Message }).filter_metadata["attempt_router"];
}

/** The upstream filter is the downstream one in its other role: its module comes from the same place. */
function upstreamPatches(filters: Message[]): Message[] {
  const codec = filters.at(-1);
  const added = "/typed_config/upstream_http_filters";
  return [
    onRouter({ op: "add", path: added, value: [codec] }),
    onRouter({ op: "copy", from: `${HTTP_FILTERS}/0`, path: `${added}/0` }),
    onRouter({ op: "replace", path: `${added}/0/name`, value: filters[0]?.["name"] }),
    onRouter({ op: "replace", path: `${added}/0/typed_config/config/root_id`, value: "upstream" }),
    onRouter({ op: "remove", path: `${added}/0/disabled` }),
  ];
}

function onRoute(path: string, value: unknown): Message {
  return onRoutes("routes", GATEWAY.route, path, value);
}

function onRoutes(list: string, name: string, path: string, value: unknown): Message {
  const operation = { op: "add", jsonPath: named(list, name), path, value };
  return { type: `${TYPE}route.v3.RouteConfiguration`, name: GATEWAY.routes, operation };
}

function onRouter(operation: Message): Message {
  const jsonPath = named("http_filters", ROUTER["name"] as string);
  return { type: `${TYPE}listener.v3.Listener`, name: GATEWAY.listener, operation: { jsonPath, ...operation } };
}

function named(list: string, name: string): string {
  return `..${list}[?(@.name=='${name}')]`;
}
