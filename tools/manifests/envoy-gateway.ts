import { lowerResources, type Message, type Names } from "./native.js";

const TARGET = { group: "gateway.networking.k8s.io", kind: "Gateway", name: "eg" };
const RULE = "httproute/default/llm/rule";

/** The name that Envoy Gateway gives to the filter of the policy below. */
export const EXTENSION_FILTER = "envoy.filters.http.wasm/envoyextensionpolicy/default/attempt-router/wasm/0";

/** What Envoy Gateway generates for a listener `http` of a gateway `eg`, with an HTTPRoute `llm` of two rules. */
export const GATEWAY: Names = {
  listener: "default/eg/http",
  routes: "default/eg/http",
  virtualHost: "default/eg/http/*",
  cluster: (service) => `${RULE}/${service === "provider-a" ? 0 : 1}`,
  filters: [],
  action: { upgrade_configs: [{ upgrade_type: "websocket" }] },
};

const HTTP_FILTERS = "/default_filter_chain/filters/0/typed_config/http_filters";
const UPSTREAM = `${HTTP_FILTERS}/1/typed_config/upstream_http_filters`;
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
  const routes = "/virtual_hosts/0";
  const counts = virtualHost["include_request_attempt_count"] === true;
  const jsonPatches = [
    ...(counts ? [onRoutes("add", `${routes}/include_request_attempt_count`, true)] : []),
    ...["name", "metadata", "route"].map((field) => onRoutes("add", `${routes}/routes/0/${field}`, route[field])),
    ...(upstreamFilters === undefined ? [] : upstreamPatches(upstreamFilters)),
  ];
  return {
    apiVersion: "gateway.envoyproxy.io/v1alpha1",
    kind: "EnvoyPatchPolicy",
    metadata: { name: "attempt-router", namespace: "default" },
    spec: { targetRef: TARGET, type: "JSONPatch", jsonPatches },
  };
}

/** The upstream filter is the downstream one in its other role: its module comes from the same place. */
function upstreamPatches(filters: Message[]): Message[] {
  const codec = filters.at(-1);
  return [
    onListener({ op: "add", path: UPSTREAM, value: [codec] }),
    onListener({ op: "copy", from: `${HTTP_FILTERS}/0`, path: `${UPSTREAM}/0` }),
    onListener({ op: "replace", path: `${UPSTREAM}/0/name`, value: filters[0]?.["name"] }),
    onListener({ op: "replace", path: `${UPSTREAM}/0/typed_config/config/root_id`, value: "upstream" }),
    onListener({ op: "remove", path: `${UPSTREAM}/0/disabled` }),
  ];
}

function onRoutes(op: string, path: string, value: unknown): Message {
  return { type: `${TYPE}route.v3.RouteConfiguration`, name: GATEWAY.routes, operation: { op, path, value } };
}

function onListener(operation: Message): Message {
  return { type: `${TYPE}listener.v3.Listener`, name: GATEWAY.listener, operation };
}
