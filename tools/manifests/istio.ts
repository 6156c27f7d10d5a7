import { HCM, lowerResources, ROUTER, WASM_TYPE, type Message, type Names } from "./native.js";

/** What Istio generates for a gateway on port 8080 of two services in the namespace `llm`. */
export const ISTIO: Names = {
  listener: "0.0.0.0_8080",
  routes: "http.8080",
  virtualHost: "llm.example.com:8080",
  route: "messages",
  cluster: (service) => `outbound|8080||${service}.llm.svc.cluster.local`,
  // What WasmPlugins and other EnvoyFilters of the mesh put there, which may do anything.
  filters: [
    {
      name: "others",
      typed_config: {
        "@type": "type.googleapis.com/envoy.extensions.filters.http.lua.v3.Lua",
        default_source_code: { inline_string: "function envoy_on_request(handle) end" },
      },
    },
  ],
  // Without it Envoy ends every request after 15 seconds, all attempts included.
  action: { timeout: "0s" },
};

/** An EnvoyFilter that brings a gateway to what `lower` makes of its listener and routes. */
export function envoyFilter(image: string, attemptHeader: boolean): Message {
  const { filters, upstreamFilters, virtualHost } = lowerResources(ISTIO, attemptHeader);
  const modules = [...filters, ...(upstreamFilters ?? [])].filter(isModule);
  const routes = virtualHost.routes.toReversed();
  return {
    apiVersion: "networking.istio.io/v1alpha3",
    kind: "EnvoyFilter",
    metadata: { name: "attempt-router", namespace: "istio-system" },
    spec: {
      workloadSelector: { labels: { istio: "ingressgateway" } },
      configPatches: [
        ...modules.map((filter) => patch("EXTENSION_CONFIG", {}, "ADD", fromImage(filter, image))),
        ...filters.map((filter) => patch("HTTP_FILTER", atRouter(), "INSERT_BEFORE", discovered(filter))),
        ...(upstreamFilters === undefined ? [] : [patch("HTTP_FILTER", atRouter(), "MERGE", router(upstreamFilters))]),
        // Each is inserted as the first, so the first comes last.
        ...routes.map((route) => patch("HTTP_ROUTE", inVirtualHost(), "INSERT_FIRST", route)),
        ...(virtualHost["include_request_attempt_count"] === true
          ? [patch("VIRTUAL_HOST", inVirtualHost(), "MERGE", { include_request_attempt_count: true })]
          : []),
      ],
    },
  };
}

function patch(applyTo: string, match: Message, operation: string, value: Message): Message {
  return { applyTo, match: { context: "GATEWAY", ...match }, patch: { operation, value } };
}

function atRouter(): Message {
  return { listener: { filterChain: { filter: { name: HCM, subFilter: { name: ROUTER["name"] } } } } };
}

function inVirtualHost(): Message {
  return { routeConfiguration: { vhost: { name: ISTIO.virtualHost } } };
}

function isModule(filter: Message): boolean {
  return (filter["typed_config"] as Message)["@type"] === WASM_TYPE;
}

/** What Istio's agent puts in the place of a module that it cannot pull; a type that is not listed is a 500 for everybody. */
export const RBAC_TYPE = "type.googleapis.com/envoy.extensions.filters.http.rbac.v3.RBAC";

/** Istio's agent pulls images for extension configs only, so a filter names its config instead of holding it. */
function discovered(filter: Message): Message {
  if (!isModule(filter)) return filter;
  const config_source = { ads: {}, initial_fetch_timeout: "0s", resource_api_version: "V3" };
  return { name: filter["name"], config_discovery: { config_source, type_urls: [WASM_TYPE, RBAC_TYPE] } };
}

function fromImage(filter: Message, image: string): Message {
  const config = structuredClone(filter) as { typed_config: { config: { vm_config: Message } } };
  const vm = config.typed_config.config.vm_config;
  vm["vm_id"] = "attempt_router";
  vm["code"] = { remote: { http_uri: { uri: `oci://${image}`, timeout: "30s" } } };
  return config as unknown as Message;
}

function router(upstreamFilters: Message[]): Message {
  const typed_config = {
    ...(ROUTER["typed_config"] as Message),
    upstream_http_filters: upstreamFilters.map(discovered),
  };
  return { ...ROUTER, typed_config };
}
