/** Type URLs and names of Envoy's that `lower` reads or writes. */
const GOOGLE = "type.googleapis.com/";

export const TYPE = {
  priorityGroup: `${GOOGLE}envoy.extensions.router.cluster_specifiers.priority_group.v3.PriorityGroupClusterSpecifier`,
  matcherSpecifier: `${GOOGLE}envoy.extensions.router.cluster_specifiers.matcher.v3.MatcherClusterSpecifier`,
  clusterAction: `${GOOGLE}envoy.extensions.router.cluster_specifiers.matcher.v3.ClusterAction`,
  headerInput: `${GOOGLE}envoy.type.matcher.v3.HttpRequestHeaderMatchInput`,
  filterStateInput: `${GOOGLE}envoy.extensions.matching.common_inputs.network.v3.FilterStateInput`,
  connectionManager: `${GOOGLE}envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager`,
  mobileConnectionManager: `${GOOGLE}envoy.extensions.filters.network.http_connection_manager.v3.EnvoyMobileHttpConnectionManager`,
  router: `${GOOGLE}envoy.extensions.filters.http.router.v3.Router`,
  wasm: `${GOOGLE}envoy.extensions.filters.http.wasm.v3.Wasm`,
  setFilterState: `${GOOGLE}envoy.extensions.filters.http.set_filter_state.v3.Config`,
  headerMutation: `${GOOGLE}envoy.extensions.filters.http.header_mutation.v3.HeaderMutation`,
  earlyHeaderMutation: `${GOOGLE}envoy.extensions.http.early_header_mutation.header_mutation.v3.HeaderMutation`,
  upstreamCodec: `${GOOGLE}envoy.extensions.filters.http.upstream_codec.v3.UpstreamCodec`,
  routeConfiguration: `${GOOGLE}envoy.config.route.v3.RouteConfiguration`,
  bootstrap: `${GOOGLE}envoy.config.bootstrap.v3.Bootstrap`,
  listener: `${GOOGLE}envoy.config.listener.v3.Listener`,
  cluster: `${GOOGLE}envoy.config.cluster.v3.Cluster`,
  scopedRoutes: `${GOOGLE}envoy.config.route.v3.ScopedRouteConfiguration`,
  discoveryResponse: `${GOOGLE}envoy.service.discovery.v3.DiscoveryResponse`,
  resource: `${GOOGLE}envoy.service.discovery.v3.Resource`,
  route: `${GOOGLE}envoy.config.route.v3.Route`,
  routeList: `${GOOGLE}envoy.config.route.v3.RouteList`,
  allowListedRoutes: `${GOOGLE}envoy.extensions.internal_redirect.allow_listed_routes.v3.AllowListedRoutesConfig`,
  compositeCluster: `${GOOGLE}envoy.extensions.clusters.composite.v3.ClusterConfig`,
  aggregateCluster: `${GOOGLE}envoy.extensions.clusters.aggregate.v3.ClusterConfig`,
  internalListener: `${GOOGLE}envoy.extensions.bootstrap.internal_listener.v3.InternalListener`,
  rbac: `${GOOGLE}envoy.extensions.filters.http.rbac.v3.RBAC`,
  filterConfig: `${GOOGLE}envoy.config.route.v3.FilterConfig`,
  stringValue: `${GOOGLE}google.protobuf.StringValue`,
  metadata: `${GOOGLE}envoy.config.core.v3.Metadata`,
  lua: `${GOOGLE}envoy.extensions.filters.http.lua.v3.Lua`,
  credentialInjector: `${GOOGLE}envoy.extensions.filters.http.credential_injector.v3.CredentialInjector`,
  matching: `${GOOGLE}envoy.extensions.common.matching.v3.ExtensionWithMatcher`,
  compositeFilter: `${GOOGLE}envoy.extensions.filters.http.composite.v3.Composite`,
  executeFilter: `${GOOGLE}envoy.extensions.filters.http.composite.v3.ExecuteFilterAction`,
  genericCredential: `${GOOGLE}envoy.extensions.http.injected_credentials.generic.v3.Generic`,
  upstreamTls: `${GOOGLE}envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext`,
} as const;

export const UPSTREAM_CODEC = "envoy.filters.http.upstream_codec";
export const HTTP_PROTOCOL_OPTIONS = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions";
export const ATTEMPT_COUNT_HEADER = "x-envoy-attempt-count";
/** In which the module names the cluster of a request whose route's cluster a specifier overrides. */
export const CLUSTER_HEADER = "x-attempt-router-cluster";
export const PER_FILTER = "typed_per_filter_config";
export const METADATA_NAMESPACE = "attempt_router";
/** No cluster has this name: what a slot leads to that names a cluster outside its list. */
export const UNKNOWN_CLUSTER = "attempt_router_unknown_cluster";
export const DOWNSTREAM_FILTER = "attempt_router";
export const RESOLVE_FILTER = "attempt_router_resolve";
/** The stock filter after which a request is the router's, see start-mark.ts. */
export const STARTED_FILTER = "attempt_router_started";
export const UPSTREAM_FILTER = "attempt_router_upstream";
/** The upstream filters of a cluster that make its attempts carry what the provider may see. */
export const PROVIDER_FILTERS = {
  rewrite: "attempt_router_provider_rewrite",
  headers: "attempt_router_provider_headers",
  key: "attempt_router_provider_key",
  /** Of an aggregate cluster: notes the cluster that has the attempt's host, and runs the filters of that one. */
  member: "attempt_router_provider_member",
  ofMember: "attempt_router_provider_of_member",
} as const;
/** A static cluster without endpoints: where an attempt ends for which no cluster has a host. */
export const NO_HOST_CLUSTER = "attempt_router_no_host";

/** Filter state key that the stock filter writes. */
export const STARTED_KEY = "attempt_router.started";
/** Filter state keys, as the module's set_property writes them. */
export const ONE_SLOT_KEY = "wasm.attempt_router.cluster";
export const PIN_KEY = "wasm.attempt_router.route";
export const GIVEN_KEY = "wasm.attempt_router.given";
/** What the names of all request headers begin with that the module writes. */
export const OWN_HEADERS = "x-attempt-router-";
/** Request headers of the HEADERS form, as the module writes them. */
export const FIRST_HEADER = "x-attempt-router-first";
export const slotHeader = (slot: number): string => `x-attempt-router-cluster-${slot}`;
export const slotKey = (slot: number): string => `wasm.attempt_router.${slot}`;

/** How a pick reaches the route's matcher; the enum SlotForm of settings.proto. */
export type SlotForm = "SLOT_PER_ATTEMPT" | "ONE_SLOT" | "HEADERS";
