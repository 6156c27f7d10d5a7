// The filters that go with the module, as they are written.

import type { Json } from "../yaml/scalar.js";
import type { ModuleSource, PlanOptions } from "./options.js";
import type { OwnFilter } from "./own-filters.js";
import { DOWNSTREAM_FILTER, METADATA_NAMESPACE, RESOLVE_FILTER, TYPE, UPSTREAM_FILTER } from "./types.js";

/** A stock filter that changes nothing; looking for its settings makes Envoy resolve the route. */
export const RESOLVE: Json = { name: RESOLVE_FILTER, typed_config: { "@type": TYPE.headerMutation } };

/** The filter for all routes of a listener. */
export function downstreamFilter(vmId: string, options: PlanOptions, settings: Json | undefined): Json {
  return wasmFilter(DOWNSTREAM_FILTER, configOf("downstream", vmId, options, settings));
}

export function upstreamFilter(vmId: string, options: PlanOptions): Json {
  return wasmFilter(UPSTREAM_FILTER, configOf("upstream", vmId, options, undefined));
}

/** The filter of the routes with some settings; it is off for all others. */
export function ownFilter({ name, id, settings }: OwnFilter, vmId: string, options: PlanOptions): Json {
  const config = configOf("downstream", vmId, options, settings);
  // A virtual machine of its own, in updates of the listener too: it knows one route.
  const configuration = { "@type": TYPE.stringValue, value: id };
  const own = { ...config, vm_config: { ...config.vm_config, configuration } };
  return { name, disabled: true, typed_config: { "@type": TYPE.wasm, config: own } };
}

/** The cluster that fetches the module from its URL. */
export function moduleCluster(source: ModuleSource): Json | undefined {
  if (source.kind !== "remote" || !source.addCluster) return undefined;
  const url = new URL(source.uri);
  const secure = url.protocol === "https:";
  const port = url.port === "" ? (secure ? 443 : 80) : Number(url.port);
  const address = { socket_address: { address: url.hostname, port_value: port } };
  const tls = { "@type": TYPE.upstreamTls, sni: url.hostname };
  return {
    name: source.cluster,
    type: "STRICT_DNS",
    connect_timeout: "5s",
    load_assignment: { cluster_name: source.cluster, endpoints: [{ lb_endpoints: [{ endpoint: { address } }] }] },
    ...(secure ? { transport_socket: { name: "envoy.transport_sockets.tls", typed_config: tls } } : {}),
  };
}

function wasmFilter(name: string, config: { [key: string]: Json }): Json {
  return { name, typed_config: { "@type": TYPE.wasm, config } };
}

function configOf(rootId: string, vmId: string, options: PlanOptions, settings: Json | undefined) {
  // Any message but a string or a struct reaches the module as it is, in the form that it reads settings from anyway.
  const configuration = { "@type": TYPE.metadata, filter_metadata: { [METADATA_NAMESPACE]: settings ?? null } };
  return {
    name: DOWNSTREAM_FILTER,
    root_id: rootId,
    failure_policy: options.failurePolicy,
    vm_config: { vm_id: vmId, runtime: "envoy.wasm.runtime.v8", code: moduleCode(options.module) },
    ...(settings === undefined ? {} : { configuration }),
  };
}

function moduleCode(source: ModuleSource): Json {
  if (source.kind === "local") return { local: { filename: source.filename } };
  const http_uri = { uri: source.uri, cluster: source.cluster, timeout: "30s" };
  // By default Envoy asks twice within a second, and never again: a server that comes late would not be found.
  const retry_policy = { retry_back_off: { base_interval: "1s", max_interval: "30s" }, num_retries: 10 };
  return { remote: { http_uri, sha256: source.sha256, retry_policy } };
}
