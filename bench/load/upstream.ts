import { stringify } from "yaml";
import { envoyVersions } from "../../tools/envoy/binary.js";
import { ANY_PORT, EnvoyProcess } from "../../tools/envoy/process.js";
import type { Upstreams } from "../scenarios.js";
import { pin } from "./cores.js";

const GOOGLE = "type.googleapis.com/envoy.";

/** An upstream that outruns the Envoy in front of it: another Envoy, which answers by itself. */
export interface FastUpstream {
  ports: Upstreams;
  envoy: EnvoyProcess;
}

/** Starts an upstream with one worker, on `core` where one is given, whose answers have a body of two bytes. */
export async function startUpstream(core: number | undefined): Promise<FastUpstream> {
  const bootstrap = {
    admin: { address: ANY_PORT },
    static_resources: { listeners: [answering("ok", 200), answering("failing", 503)] },
  };
  const { oracle } = await envoyVersions();
  const envoy = await EnvoyProcess.start(oracle, stringify(bootstrap, { aliasDuplicateObjects: false }));
  await pin(envoy, core);
  return { ports: { ok: envoy.port("ok"), failing: envoy.port("failing") }, envoy };
}

function answering(name: string, status: number): object {
  const routes = [{ match: { prefix: "/" }, direct_response: { status, body: { inline_string: "ok" } } }];
  const manager = {
    "@type": `${GOOGLE}extensions.filters.network.http_connection_manager.v3.HttpConnectionManager`,
    stat_prefix: name,
    route_config: { virtual_hosts: [{ name: "all", domains: ["*"], routes }] },
    http_filters: [{ name: "router", typed_config: { "@type": `${GOOGLE}extensions.filters.http.router.v3.Router` } }],
  };
  return { name, address: ANY_PORT, filter_chains: [{ filters: [{ name: "http", typed_config: manager }] }] };
}
