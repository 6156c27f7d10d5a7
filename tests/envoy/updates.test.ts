// Listeners and routes that are replaced while requests are under way.

import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { envoyVersions } from "../../tools/envoy/binary.js";
import { ANY_PORT } from "../../tools/envoy/process.js";
import { waitFor } from "../../tools/wait.js";
import { staticCluster } from "../support/clusters.js";
import { group, priorityGroups } from "../support/config.js";
import { lowered } from "../support/lowering.js";
import { ResourceFile } from "../support/resource-file.js";
import { Serving, type Served } from "../support/serving.js";
import type { Upstreams } from "../support/upstreams.js";

const { versions } = await envoyVersions();
const TYPE = "type.googleapis.com/envoy";
const UPSTREAMS = { f: 503, g: 503, a0: 200, b0: 200, a1: 200, b1: 200 };
// As many retries at a time as a cluster allows.
const CLIENTS = 3;
const ACTIVE = "wasm.envoy.wasm.runtime.v8.active";

type Json = Record<string, unknown>;

let file: ResourceFile;

beforeEach(() => {
  file = new ResourceFile();
});

afterEach(() => file.remove());

/** What is replaced, and what does not change beside it. */
const kinds = {
  "listeners by LDS": {
    update: (version: number) => ({ "@type": `${TYPE}.config.listener.v3.Listener`, ...listener(ownRoutes(version)) }),
    bootstrap: () => ({ dynamic_resources: { lds_config: file.source } }),
    listeners: () => [],
  },
  "routes by RDS": {
    update: (version: number) => ({ "@type": `${TYPE}.config.route.v3.RouteConfiguration`, ...routes(version) }),
    bootstrap: () => ({}),
    listeners: () => [listener({ rds: { route_config_name: "routes", config_source: file.source } })],
  },
};

describe.each(versions)("Envoy %s", (envoyVersion) => {
  test.each(Object.entries(kinds))("serves every request by the %s that it met", async (_, kind) => {
    write(kind.update(0));
    const serving = await Serving.start(
      envoyVersion,
      UPSTREAMS,
      (upstreams) => bootstrap(upstreams, kind.bootstrap(), kind.listeners()),
      ["--concurrency", "2"],
    );
    try {
      let ended = false;
      const served: { pick: number; one: Served }[] = [];
      const clients = Array.from({ length: CLIENTS }, async (__, index) => {
        const pick = index % 2;
        while (!ended) served.push({ pick, one: await serving.get("/", { "x-pick": String(pick) }) });
      });
      const before = await serving.envoy.admin.stat(ACTIVE);
      for (let version = 1; version <= 12; version++) {
        write(kind.update(version));
        await waitFor("the update", async () => versionOf(await serving.get("/")) === String(version));
      }
      ended = true;
      await Promise.all(clients);
      for (const { pick, one } of served) check(one, pick);
      // Also those of listeners that are gone: one machine lasts through all updates.
      expect(await serving.envoy.admin.stat(ACTIVE)).toBe(before);
    } finally {
      await serving.stop();
    }
  });
});

/** Attempt 1 fails, and attempt 2 goes to the pick of the route that the response names. */
function check({ response, hops }: Served, pick: number): void {
  const parity = Number(versionOf({ response })) % 2;
  expect(response.status).toBe(200);
  expect(hops).toEqual([pick === 1 ? "g" : "f", `${pick === 1 ? "b" : "a"}${parity}`]);
}

function versionOf({ response }: Pick<Served, "response">): string {
  return response.headers["x-version"] ?? "";
}

function bootstrap(upstreams: Upstreams, more: Json, listeners: Json[]): string {
  const clusters = Object.keys(UPSTREAMS).map((name) => staticCluster(name, [upstreams.port(name)]));
  const node = { id: "test", cluster: "test" };
  const text = JSON.stringify({
    node,
    admin: { address: ANY_PORT },
    ...more,
    static_resources: { listeners, clusters },
  });
  return listeners.length === 0 ? text : lowered(text, "bootstrap.json", { rds: true });
}

function listener(source: Json): Json {
  const router = { name: "router", typed_config: { "@type": `${TYPE}.extensions.filters.http.router.v3.Router` } };
  const manager = {
    "@type": `${TYPE}.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager`,
    ...{ stat_prefix: "ingress", http_filters: [router], ...source },
  };
  return { name: "ingress", address: ANY_PORT, filter_chains: [{ filters: [{ name: "m", typed_config: manager }] }] };
}

function ownRoutes(version: number): Json {
  return { route_config: routes(version) };
}

// The names of the groups differ from version to version, and so the settings.
function routes(version: number): Json {
  const named = (one: string, other: string) => ({ ...group(one, other), name: `${one} of ${version}` });
  const groups = [named("f", "g"), named(`a${version % 2}`, `b${version % 2}`)];
  const retry_policy = { retry_on: "5xx", num_retries: 1, refresh_cluster_on_retry: true, retry_back_off: BACK_OFF };
  const route = {
    match: { prefix: "/" },
    response_headers_to_add: [{ header: { key: "x-version", value: String(version) } }],
    route: { ...priorityGroups(groups, { header_name: "x-pick" }), retry_policy },
  };
  return { name: "routes", virtual_hosts: [{ name: "all", domains: ["*"], routes: [route] }] };
}

const BACK_OFF = { base_interval: "0.002s", max_interval: "0.004s" };

function write(resource: Json): void {
  file.write(lowered(JSON.stringify({ resources: [resource] }), "resources.json"));
}
