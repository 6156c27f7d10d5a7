import { stringify } from "yaml";
import { listenersOf, type Case, type Config, type ListenerSpec } from "./case.js";
import { ANY_PORT, DIRECTORY } from "../../tools/envoy/process.js";
import { protocolOf, REQUEST_ID_HEADER, type Upstreams } from "./upstreams.js";

const TYPE = "type.googleapis.com/envoy";
const HTTP_OPTIONS = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions";

/** The access log every case writes into the temporary directory of its Envoy: one JSON object a line. */
export const ACCESS_LOG = "access.log";

/** One line of ACCESS_LOG. */
export interface AccessLogLine {
  id: string | null;
  status: number;
  flags: string;
  details: string | null;
  route: string | null;
  cluster: string | null;
  attempts: number;
}

/** The native bootstrap of a case, as YAML text: its listeners, and a static cluster for each upstream. */
export function nativeBootstrap(test: Case, upstreams: Upstreams): string {
  const bootstrap = {
    admin: { address: ANY_PORT },
    ...test.bootstrap,
    static_resources: {
      listeners: listenersOf(test).map(listenerOf),
      clusters: [
        ...Object.keys(upstreams.specs).map((name) => upstreamCluster(test, name, upstreams)),
        ...Object.keys(test.clusters ?? {}).map((name) => merge(emptyCluster(name), test.cluster_settings?.[name])),
        ...(test.extra_clusters ?? []),
      ],
    },
  };
  // Envoy reads YAML 1.1: a string such as `y` or `on` must be quoted.
  return stringify(bootstrap, { aliasDuplicateObjects: false, lineWidth: 0, compat: "yaml-1.1" });
}

function listenerOf(spec: ListenerSpec & { name: string }): Config {
  const manager = {
    "@type": `${TYPE}.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager`,
    stat_prefix: spec.name,
    access_log: [accessLog()],
    http_filters: [...(spec.http_filters ?? []), routerFilter(spec.router)],
    ...spec.hcm,
    ...(spec.route_config && { route_config: spec.route_config }),
  };
  const filters = [{ name: "envoy.filters.network.http_connection_manager", typed_config: manager }];
  return { name: spec.name, address: ANY_PORT, filter_chains: [{ filters }] };
}

function routerFilter(settings: Config = {}): Config {
  const typed = { "@type": `${TYPE}.extensions.filters.http.router.v3.Router`, ...settings };
  return { name: "envoy.filters.http.router", typed_config: typed };
}

function accessLog(): Config {
  const line: Record<keyof AccessLogLine, string> = {
    id: `%REQ(${REQUEST_ID_HEADER})%`,
    status: "%RESPONSE_CODE%",
    flags: "%RESPONSE_FLAGS%",
    details: "%RESPONSE_CODE_DETAILS%",
    route: "%ROUTE_NAME%",
    cluster: "%UPSTREAM_CLUSTER%",
    attempts: "%UPSTREAM_REQUEST_ATTEMPT_COUNT%",
  };
  const typed = {
    "@type": `${TYPE}.extensions.access_loggers.file.v3.FileAccessLog`,
    path: `${DIRECTORY}/${ACCESS_LOG}`,
    log_format: { json_format: line },
  };
  return { name: "envoy.access_loggers.file", typed_config: typed };
}

function upstreamCluster(test: Case, name: string, upstreams: Upstreams): Config {
  const port = upstreams.port(name);
  const endpoint = { address: { socket_address: { address: "127.0.0.1", port_value: port } } };
  const cluster = {
    ...emptyCluster(name),
    load_assignment: { cluster_name: name, endpoints: [{ lb_endpoints: [{ endpoint }] }] },
  };
  const isHttp2 = protocolOf(upstreams.specs[name] ?? 200) !== "http1";
  const explicit = { explicit_http_config: { http2_protocol_options: {} } };
  const http2 = {
    typed_extension_protocol_options: {
      [HTTP_OPTIONS]: { "@type": `type.googleapis.com/${HTTP_OPTIONS}`, ...explicit },
    },
  };
  return merge(isHttp2 ? { ...cluster, ...http2 } : cluster, test.cluster_settings?.[name]);
}

function emptyCluster(name: string): Config {
  return { name, type: "STATIC", connect_timeout: "2s" };
}

/** `over` laid on `base`: maps are merged, everything else is replaced. */
function merge(base: Config, over: Config = {}): Config {
  const result = { ...base };
  for (const [key, value] of Object.entries(over)) {
    const old = result[key];
    result[key] = isMap(old) && isMap(value) ? merge(old, value) : value;
  }
  return result;
}

function isMap(value: unknown): value is Config {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
