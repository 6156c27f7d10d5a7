import { stringify } from "yaml";
import { lower, type LowerOptions } from "../../cli/lower.js";
import { ANY_PORT, DIRECTORY, EnvoyProcess } from "../../tools/envoy/process.js";
import { send, type ClientProtocol, type ClientResponse } from "./client.js";
import type { Config } from "./case.js";
import { staticCluster } from "./clusters.js";
import { priorityGroups } from "./config.js";
import { Provider, type Play } from "./providers.js";

const TYPE = "type.googleapis.com/envoy";
const HTTP_OPTIONS = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions";
const CODEC = {
  name: "envoy.filters.http.upstream_codec",
  typed_config: { "@type": `${TYPE}.extensions.filters.http.upstream_codec.v3.UpstreamCodec` },
};

/** What a test may say about the proxy that holds answers. Providers are clusters of their names. */
export interface HoldingSpec {
  providers: Record<string, Play>;
  /** `hold_response` of the route; null: none. */
  hold?: Config | null;
  /** Fields of the virtual host's metadata for the module. */
  hostSettings?: Config;
  /** The route's action, but for its retry policy; default: each provider a priority group. */
  action?: Config;
  retries?: Config;
  /** Protocol towards the providers. */
  protocol?: "http1" | "http2";
  /** Filters of the providers' clusters. */
  clusterFilters?: Config[];
  routerFilters?: Config[];
  cluster?: Config;
  /** Further fields of the listener. */
  listener?: Config;
  clusters?: Config[];
  routes?: Config[];
  options?: LowerOptions;
}

/** The name of the access log in the directory of the proxy. */
export const LOG = "access.log";

/** An Envoy with a lowered configuration, and providers that play their parts. */
export class Holding {
  private constructor(
    readonly envoy: EnvoyProcess,
    readonly providers: Readonly<Record<string, Provider>>,
    readonly config: string,
  ) {}

  static async start(version: string, spec: HoldingSpec): Promise<Holding> {
    const started = Object.entries(spec.providers).map(
      async ([name, play]) => [name, await Provider.start(play, spec.protocol)] as const,
    );
    const providers = Object.fromEntries(await Promise.all(started));
    const config = lower(
      stringify(bootstrap(spec, providers), { aliasDuplicateObjects: false, lineWidth: 0 }),
      spec.options,
    ).text;
    try {
      return new Holding(await EnvoyProcess.start(version, config), providers, config);
    } catch (error) {
      await Promise.all(Object.values(providers).map((provider) => provider.stop()));
      throw error;
    }
  }

  async send(
    path = "/",
    { method = "GET", protocol = "http1" as ClientProtocol, headers = {}, body = "" } = {},
  ): Promise<ClientResponse> {
    const port = this.envoy.port("ingress");
    return send({ port, protocol, method, path, headers: { host: "test", ...headers }, body });
  }

  /** As `send`, and how many requests each provider got for it. */
  async sendAndCount(...request: Parameters<Holding["send"]>): Promise<{ result: ClientResponse; hops: number[] }> {
    const before = this.hops;
    const result = await this.send(...request);
    return { result, hops: Object.entries(this.hops).map(([name, count]) => count - (before[name] ?? 0)) };
  }

  /** How many requests each provider got. */
  get hops(): Record<string, number> {
    return Object.fromEntries(Object.entries(this.providers).map(([name, { requests }]) => [name, requests]));
  }

  async counter(name: string): Promise<number> {
    return this.envoy.admin.stat(`wasmcustom.attempt_router.${name}`);
  }

  async stop<T>(last?: (directory: string) => Promise<T>): Promise<T | undefined> {
    try {
      return await this.envoy.stop(last);
    } finally {
      await Promise.all(Object.values(this.providers).map((provider) => provider.stop()));
    }
  }
}

/** Runs a test on a proxy of its own. */
export async function holding(
  version: string,
  spec: HoldingSpec,
  run: (proxy: Holding) => Promise<void>,
): Promise<void> {
  const proxy = await Holding.start(version, spec);
  try {
    await run(proxy);
  } finally {
    await proxy.stop();
  }
}

function bootstrap(spec: HoldingSpec, providers: Record<string, Provider>): Config {
  const names = Object.keys(providers);
  const clusters = names.map((name) => cluster(spec, name, providers[name]?.port ?? 0));
  return {
    admin: { address: ANY_PORT },
    static_resources: { listeners: [listener(spec, names)], clusters: [...clusters, ...(spec.clusters ?? [])] },
  };
}

function cluster(spec: HoldingSpec, name: string, port: number): Config {
  const http2 = spec.protocol === "http2" ? { http2_protocol_options: {} } : { http_protocol_options: {} };
  const filters = spec.clusterFilters === undefined ? {} : { http_filters: [...spec.clusterFilters, CODEC] };
  const options = { "@type": `type.googleapis.com/${HTTP_OPTIONS}`, explicit_http_config: http2, ...filters };
  return {
    ...staticCluster(name, [port]),
    typed_extension_protocol_options: { [HTTP_OPTIONS]: options },
    ...spec.cluster,
  };
}

function listener(spec: HoldingSpec, names: string[]): Config {
  const groups = names.map((name) => ({ name, clusters: [{ cluster_name: name, weight: 1 }] }));
  const action = spec.action ?? priorityGroups(groups);
  const retry_policy = {
    retry_on: "5xx,reset,retriable-status-codes",
    retriable_status_codes: [429],
    num_retries: names.length - 1,
    per_try_timeout: "3s",
    refresh_cluster_on_retry: true,
    retry_back_off: { base_interval: "0.001s" },
    ...spec.retries,
  };
  const hold = spec.hold === null ? {} : { hold_response: spec.hold ?? {} };
  const route = {
    match: { prefix: "/" },
    name: "messages",
    metadata: { filter_metadata: { attempt_router: hold } },
    route: { ...action, timeout: "10s", retry_policy },
  };
  const host = {
    name: "vh",
    domains: ["*"],
    ...(spec.hostSettings && { metadata: { filter_metadata: { attempt_router: spec.hostSettings } } }),
    routes: [...(spec.routes ?? []), route],
  };
  const manager = {
    "@type": `${TYPE}.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager`,
    stat_prefix: "ingress",
    access_log: [accessLog()],
    route_config: { name: "local", virtual_hosts: [host] },
    http_filters: [router(spec.routerFilters)],
  };
  const filters = [{ name: "envoy.filters.network.http_connection_manager", typed_config: manager }];
  return { name: "ingress", address: ANY_PORT, filter_chains: [{ filters }], ...spec.listener };
}

function router(filters: Config[] | undefined): Config {
  const upstream = filters === undefined ? {} : { upstream_http_filters: [...filters, CODEC] };
  const typed_config = { "@type": `${TYPE}.extensions.filters.http.router.v3.Router`, ...upstream };
  return { name: "envoy.filters.http.router", typed_config };
}

function accessLog(): Config {
  const text = "%RESPONSE_CODE% %RESPONSE_FLAGS% %RESPONSE_CODE_DETAILS% %UPSTREAM_CLUSTER_RAW%\n";
  const typed_config = {
    "@type": `${TYPE}.extensions.access_loggers.file.v3.FileAccessLog`,
    path: `${DIRECTORY}/${LOG}`,
    log_format: { text_format_source: { inline_string: text } },
  };
  return { name: "envoy.access_loggers.file", typed_config };
}
