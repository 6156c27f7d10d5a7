// Runs for the tests of what providers see: three with TLS and a name of their own, and one cluster without settings.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request, type IncomingMessage } from "node:http";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stringify } from "yaml";
import { expect } from "vitest";
import { lower } from "../../cli/lower.js";
import { ANY_PORT, EnvoyProcess } from "../../tools/envoy/process.js";
import type { Config } from "../support/case.js";
import { staticCluster } from "../support/clusters.js";
import { group, priorityGroups } from "../support/config.js";
import { CERTIFICATES, TlsProviders, type Visit } from "../support/tls-providers.js";
import { Upstreams } from "../support/upstreams.js";

const TYPE = "type.googleapis.com/envoy";

/** What each provider, and no other, may see. */
const SECRETS: Record<string, string[]> = {
  a: ["key-of-a", "a.example", "/pa"],
  b: ["key-of-b", "b.example", "/pb/v0", "vendor-b-version"],
  c: ["key-of-c", "c.example"],
};
const PATH = "/v1/chat?user=a%2Fb&n=1";
export const PATHS: Record<string, string> = { a: `/pa${PATH}`, b: `/pb/v0${PATH}`, c: PATH, own: PATH };
/** Every order of the three and the cluster without settings. */
export const ORDERS = permutations(["a", "b", "c", "own"]);

export interface Setup {
  routes: Config[];
  filters?: Config[];
  router?: Config;
  clusters?: Config[];
  more?: Config[];
}

export const retry_policy = {
  retry_on: "5xx,reset,connect-failure,retriable-status-codes",
  retriable_status_codes: [429],
  num_retries: 3,
  retry_back_off: { base_interval: "0.001s", max_interval: "0.002s" },
  refresh_cluster_on_retry: true,
};

/** A route to groups of a cluster each. */
export function ordered(order: readonly string[], more: Config = {}): Config {
  const groups = order.map((name) => group(name));
  return { match: { prefix: "/" }, route: { ...priorityGroups(groups), retry_policy, timeout: "5s", ...more } };
}

/** Providers, and the Envoy in front of them. */
export class ProviderRuns {
  upstreams!: Upstreams;
  envoy: EnvoyProcess | undefined;

  private constructor(
    readonly providers: TlsProviders,
    private readonly folder: string,
  ) {}

  static async create(): Promise<ProviderRuns> {
    const folder = mkdtempSync(join(tmpdir(), "attempt-router-providers-"));
    writeFileSync(join(folder, "key-a"), "key-of-a");
    const secret = { "@type": `${TYPE}.extensions.transport_sockets.tls.v3.Secret`, name: "key-b" };
    const generic_secret = { secret: { inline_string: "key-of-b" } };
    writeFileSync(join(folder, "b.yaml"), stringify({ resources: [{ ...secret, generic_secret }] }));
    return new ProviderRuns(await TlsProviders.start(["a", "b", "c"]), folder);
  }

  async start(version: string, setup: Setup): Promise<void> {
    const { routes, filters = [], router = {}, clusters, more = [] } = setup;
    this.upstreams = await Upstreams.start({ own: 503 });
    const manager = {
      "@type": `${TYPE}.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager`,
      stat_prefix: "ingress",
      route_config: { virtual_hosts: [{ name: "all", domains: ["*"], include_request_attempt_count: true, routes }] },
      http_filters: [
        ...filters,
        { name: "router", typed_config: { "@type": `${TYPE}.extensions.filters.http.router.v3.Router`, ...router } },
      ],
    };
    const listener = {
      name: "ingress",
      address: ANY_PORT,
      filter_chains: [{ filters: [{ name: "m", typed_config: manager }] }],
    };
    const all = clusters ?? [this.tlsCluster("a"), this.tlsCluster("b"), this.tlsCluster("c"), this.ownCluster()];
    const bootstrap = {
      node: { id: "test", cluster: "test" },
      admin: { address: ANY_PORT },
      static_resources: { listeners: [listener], clusters: [...all, ...more] },
    };
    const native = stringify(bootstrap, { aliasDuplicateObjects: false, lineWidth: 0, compat: "yaml-1.1" });
    this.envoy = await EnvoyProcess.start(version, lower(native, { file: "providers.yaml" }).text);
  }

  async stop(): Promise<void> {
    await this.envoy?.stop();
    await this.upstreams.close();
    this.envoy = undefined;
    this.providers.take();
  }

  async end(): Promise<void> {
    await this.providers.close();
    rmSync(this.folder, { recursive: true });
  }

  /** Of a provider. */
  tlsCluster(name: string, more: Config = {}): Config {
    const common_tls_context = { validation_context: { trusted_ca: { filename: `${CERTIFICATES}authority.pem` } } };
    const type = `${TYPE}.extensions.transport_sockets.tls.v3.UpstreamTlsContext`;
    return {
      ...staticCluster(name, [this.providers.port(name)]),
      metadata: { filter_metadata: { attempt_router: { provider: this.provider(name) } } },
      transport_socket: { name: "tls", typed_config: { "@type": type, common_tls_context } },
      ...more,
    };
  }

  /** The one without settings. */
  ownCluster(): Config {
    return staticCluster("own", [this.upstreams.port("own")]);
  }

  private provider(name: string): Config {
    if (name === "a") {
      const credential = { prefix: "Bearer ", file: join(this.folder, "key-a") };
      return { host: "a.example", path_prefix: "/pa", credential, request_headers: { remove: ["x-tenant", "cookie"] } };
    }
    if (name === "b") {
      const sds_config = { path_config_source: { path: join(this.folder, "b.yaml") } };
      const set = [{ header: { key: "X-Vendor-Version", value: "vendor-b-version" } }];
      const credential = { header: "x-api-key", secret: { name: "key-b", sds_config } };
      return { host: "b.example:443", path_prefix: "/pb/v0", credential, request_headers: { set } };
    }
    return { host: "c.example", request_headers: { set: [{ header: { key: "authorization", value: "key-of-c" } }] } };
  }

  /** Sends a request, and waits for the end of the answer. */
  async post(headers: Record<string, string>, body: Buffer = Buffer.alloc(0)): Promise<number> {
    const port = this.envoy?.port("ingress");
    const all = { host: "gateway.test", authorization: "key-of-client", "x-tenant": "t1", cookie: "c=1", ...headers };
    const call = request({ host: "127.0.0.1", port, method: "POST", path: PATH, headers: all, agent: false });
    call.end(body);
    const [response] = (await once(call, "response")) as [IncomingMessage];
    response.resume();
    await once(response, "end");
    return response.statusCode ?? 0;
  }

  /** The attempts since the last call in order, those on `own` among them. */
  attempts(): Visit[] {
    const own = this.upstreams.hops.splice(0).map((hop) => ({
      ...{ provider: "own", serverName: "", path: hop.path, headers: hop.headers },
      body: Buffer.from(hop.body, "latin1"),
    }));
    const number = (visit: Visit) => Number(headersOf(visit)["x-envoy-attempt-count"]);
    return [...this.providers.take(), ...own].sort((one, other) => number(one) - number(other));
  }
}

export function headersOf(visit: Pick<Visit, "headers">): Record<string, string> {
  return Object.fromEntries(visit.headers);
}

export function seesNothingOfOthers(visit: Visit): void {
  const text = JSON.stringify([visit.serverName, visit.path, visit.headers]);
  expect(text).not.toContain("x-attempt-router");
  for (const [name, secrets] of Object.entries(SECRETS)) {
    if (name === visit.provider) continue;
    for (const secret of secrets) expect(text, `${visit.provider} sees what is for ${name}`).not.toContain(secret);
  }
}

export function seesItsOwn(visit: Visit): void {
  const headers = headersOf(visit);
  const { provider: name } = visit;
  expect(visit.path).toBe(PATHS[name]);
  expect(visit.serverName).toBe(name === "own" ? "" : `${name}.example`);
  expect(headers["host"]).toBe({ a: "a.example", b: "b.example:443", c: "c.example", own: "gateway.test" }[name]);
  const keys = {
    a: ["Bearer key-of-a", undefined],
    b: [undefined, "key-of-b"],
    c: ["key-of-c", undefined],
    own: [undefined, undefined],
  };
  expect([headers["authorization"], headers["x-api-key"]]).toEqual(keys[name as "a"]);
  expect(headers["x-vendor-version"]).toBe(name === "b" ? "vendor-b-version" : undefined);
  const kept = name === "a" ? [undefined, undefined] : ["t1", "c=1"];
  expect([headers["x-tenant"], headers["cookie"]]).toEqual(kept);
}

function permutations(names: readonly string[]): string[][] {
  if (names.length === 0) return [[]];
  return names.flatMap((name) => permutations(names.filter((other) => other !== name)).map((rest) => [name, ...rest]));
}
