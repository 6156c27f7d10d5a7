import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { lower } from "../../cli/lower.js";
import type { Admin } from "../../tools/envoy/admin.js";
import { envoyVersions } from "../../tools/envoy/binary.js";
import { ANY_PORT } from "../../tools/envoy/process.js";
import { unusedPort } from "../../tools/ports.js";
import { awaitRound } from "../support/availability.js";
import { assignment, staticCluster } from "../support/clusters.js";
import { WASM } from "../support/lowering.js";
import { ResourceFile } from "../support/resource-file.js";
import { Servers } from "../support/servers.js";
import { Serving } from "../support/serving.js";
import type { UpstreamSpec, Upstreams } from "../support/upstreams.js";

const { versions } = await envoyVersions();
const COMPOSITE = "type.googleapis.com/envoy.extensions.clusters.composite.v3.ClusterConfig";
const HTTP = "type.googleapis.com/envoy.extensions.filters.http";
// Without a merge window the workers hear of health at once, as the statistics do.
const NO_PANIC = { common_lb_config: { healthy_panic_threshold: { value: 0 }, update_merge_window: "0s" } };
const HAS_HOST = "wasmcustom.attempt_router.cluster_has_host";
const WITHOUT_HOST = "wasmcustom.attempt_router.cluster_without_host";
const SIGNAL = "wasmcustom.attempt_router.availability_signal";
// With it no aggregate stands in while nothing is known.
const PRIORITY = {
  retry_priority: {
    name: "envoy.retry_priorities.previous_priorities",
    typed_config: {
      "@type": "type.googleapis.com/envoy.extensions.retry.priority.previous_priorities.v3.PreviousPrioritiesConfig",
      update_frequency: 1,
    },
  },
};

type Json = Record<string, unknown>;

let serving: Serving | undefined;
const servers = new Servers();
let endpoints: ResourceFile;

beforeEach(() => {
  endpoints = new ResourceFile();
  writeEndpoints("eds", []);
});

afterEach(async () => {
  await serving?.stop();
  servers.close();
  endpoints.remove();
});

describe.each(versions)("Envoy %s", (version) => {
  test("skips a cluster whose endpoints EDS takes away, and comes back when they are back", async () => {
    const { envoy } = await start(version, { b: 200, first: 200 }, () => [composite(["eds", "b"]), edsCluster("eds")]);
    await endpointsAre([port("first")], envoy.admin);
    expect((await get()).hops).toEqual(["first"]);
    await endpointsAre([], envoy.admin);
    expect((await get()).hops).toEqual(["b"]);
    await endpointsAre([port("first")], envoy.admin);
    expect((await get()).hops).toEqual(["first"]);
  });

  test("sees at attempt 2 that its cluster lost its hosts during attempt 1", async () => {
    const slow = await servers.gated();
    const { envoy } = await start(version, { b: 200, first: 200 }, () => [
      composite(["slow", "eds", "b"]),
      staticCluster("slow", [slow.port]),
      edsCluster("eds"),
    ]);
    await endpointsAre([port("first")], envoy.admin);
    const response = get();
    await slow.arrived;
    await endpointsAre([], envoy.admin);
    slow.release(503);
    expect((await response).hops).toEqual(["b"]);
  });

  test("follows health checks that fail and recover", async () => {
    const checked = await servers.switchable();
    const { envoy } = await start(version, { b: 200 }, () => [
      composite(["checked", "b"]),
      {
        ...staticCluster("checked", [checked.port]),
        ...NO_PANIC,
        health_checks: [
          {
            ...{ timeout: "1s", interval: "0.02s", no_traffic_interval: "0.02s", unhealthy_interval: "0.02s" },
            ...{ unhealthy_threshold: 1, healthy_threshold: 1, http_health_check: { path: "/health" } },
          },
        ],
      },
    ]);
    const healthy = (count: number) =>
      envoy.admin.waitForStat("cluster.checked.membership_healthy", (hosts) => hosts === count);
    await healthy(1);
    await awaitRound(envoy.admin);
    expect((await get()).response.headers["x-served-by"]).toBe("switchable");
    checked.status = 503;
    await healthy(0);
    await awaitRound(envoy.admin);
    expect((await get()).hops).toEqual(["b"]);
    checked.status = 200;
    await healthy(1);
    await awaitRound(envoy.admin);
    expect((await get()).response.headers["x-served-by"]).toBe("switchable");
  });

  test("skips the cluster whose only host is ejected", async () => {
    const { envoy } = await start(version, { first: 503, b: 200 }, () => [
      composite(["ejecting", "b"]),
      {
        ...staticCluster("ejecting", [port("first")]),
        ...NO_PANIC,
        outlier_detection: {
          ...{ consecutive_5xx: 1, enforcing_consecutive_5xx: 100, max_ejection_percent: 100 },
          ...{ interval: "0.05s", base_ejection_time: "300s" },
        },
      },
    ]);
    await awaitRound(envoy.admin);
    expect((await get()).hops).toEqual(["first", "b"]);
    await envoy.admin.waitForStat("cluster.ejecting.outlier_detection.ejections_active", (count) => count === 1);
    await awaitRound(envoy.admin);
    expect((await get()).hops).toEqual(["b"]);
  });

  test("skips a STRICT_DNS cluster whose name does not resolve", async () => {
    const { envoy } = await start(version, { b: 200 }, () => [
      composite(["dns", "b"]),
      { ...staticCluster("dns", [1], "does-not-exist.invalid"), type: "STRICT_DNS" },
    ]);
    await envoy.admin.waitForStat(WITHOUT_HOST, (count) => count === 1);
    expect((await get()).hops).toEqual(["b"]);
  });

  test("does not take the 503 of one request for a fact about the cluster", async () => {
    const { envoy } = await start(version, { b: 200, first: 200 }, () => [
      { ...composite(["eds", "b"], { availability_interval_ms: 60_000 }), retry: PRIORITY },
      edsCluster("eds"),
    ]);
    expect((await get()).response.status).toBe(503);
    expect(await envoy.admin.stat(SIGNAL)).toBe(0);
    writeEndpoints("eds", [port("first")]);
    await envoy.admin.waitForStat("cluster.eds.membership_total", (hosts) => hosts === 1);
    expect((await get()).hops).toEqual(["first"]);
  });

  test("sends nothing to a cluster with upstream filters of its own", async () => {
    const { envoy } = await start(
      version,
      { b: 200, first: 200 },
      () => {
        const { settings, ...chain } = composite(["filtered", "b"], { availability_interval_ms: 10 });
        const own = ownFilters();
        return [
          { ...chain, ...own, settings },
          { ...staticCluster("filtered", [port("first")]), ...own },
        ];
      },
      { address: ANY_PORT },
      ownFilters(),
    );
    await awaitRound(envoy.admin);
    await awaitRound(envoy.admin);
    expect(await envoy.admin.stat(HAS_HOST)).toBeGreaterThan(0);
    expect(await envoy.admin.stat("cluster.filtered.upstream_cx_total")).toBe(0);
    expect(await envoy.admin.stat("cluster.filtered.upstream_rq_total")).toBe(0);
    expect((await get()).hops).toEqual(["first"]);
  });

  test("reads the admin interface instead where the route says so", async () => {
    const adminPort = await unusedPort();
    const admin = { address: "0.0.0.0", port_value: adminPort };
    const { envoy } = await start(
      version,
      { b: 200, first: 200 },
      () => [composite(["eds", "b"], { availability: "ADMIN", availability_interval_ms: 20 }), edsCluster("eds")],
      { address: { socket_address: admin } },
    );
    await awaitRound(envoy.admin);
    expect((await get()).hops).toEqual(["b"]);
    await endpointsAre([port("first")], envoy.admin);
    expect((await get()).hops).toEqual(["first"]);
    expect(await envoy.admin.stat("http.attempt_router_probe.downstream_rq_total")).toBe(0);
  });

  test("leaves the probe to the module: a route that takes its cluster from a header learns nothing there", async () => {
    const { envoy } = await start(version, { b: 200, c: 200 }, () => [composite(["b", "c"])]);
    await awaitRound(envoy.admin);
    expect(await envoy.admin.stat(HAS_HOST)).toBeGreaterThan(0);
    const answers = ["b", "attempt_router_no_host", "nowhere"].map(async (cluster) => {
      const to = { "x-to": "attempt_router_probe", "x-attempt-router-probe": cluster };
      const { response } = await stranger("/stranger", to);
      return `${response.status} ${response.body}`;
    });
    expect(new Set(await Promise.all(answers))).toEqual(new Set(["403 RBAC: access denied"]));
  });

  test("leaves the admin interface to the module", async () => {
    const admin = { address: "127.0.0.1", port_value: await unusedPort() };
    const { envoy } = await start(
      version,
      { b: 200, c: 200 },
      () => [composite(["b", "c"], { availability: "ADMIN", availability_interval_ms: 20 })],
      { address: { socket_address: admin } },
    );
    await awaitRound(envoy.admin);
    expect(await envoy.admin.stat(HAS_HOST)).toBeGreaterThan(0);
    for (const path of ["/clusters?filter=b", "/clusters", "/config_dump", "/quitquitquit", "/stats"]) {
      expect((await stranger(path, { "x-to": "attempt_router_admin" })).response.status).toBe(403);
    }
  });

  test("asks without a connection to the upstream, and without a turn of its round robin", async () => {
    const { envoy } = await start(version, { one: 200, two: 200, b: 200 }, () => [
      composite(["pair", "b"], { availability_interval_ms: 10 }),
      staticCluster("pair", [port("one"), port("two")]),
    ]);
    await awaitRound(envoy.admin);
    await awaitRound(envoy.admin);
    expect(await envoy.admin.stat("cluster.pair.upstream_cx_total")).toBe(0);
    expect(await envoy.admin.stat("cluster.pair.upstream_rq_total")).toBe(0);
    const hops: string[] = [];
    for (let i = 0; i < 400; i++) hops.push(...(await get()).hops);
    const share = hops.filter((hop) => hop === "one").length / hops.length;
    expect(hops.length).toBe(400);
    // A question that took a turn would move the share to 0 or 1.
    expect(share).toBeGreaterThan(0.4);
    expect(share).toBeLessThan(0.6);
  });
});

function get(): ReturnType<Serving["get"]> {
  if (serving === undefined) throw new Error("nothing is served");
  return serving.get("/");
}

/** A request by the route that takes its cluster from a header. */
function stranger(path: string, headers: Record<string, string>): ReturnType<Serving["get"]> {
  if (serving === undefined) throw new Error("nothing is served");
  return serving.get(path, headers);
}

function port(name: string): number {
  return upstreamsOf?.port(name) ?? 0;
}

let upstreamsOf: Upstreams | undefined;

/** Starts the lowered form of a bootstrap whose route goes to the composite cluster that comes first. */
async function start(
  version: string,
  specs: Record<string, UpstreamSpec>,
  clusters: () => Json[],
  admin: Json = { address: ANY_PORT },
  ofEveryCluster: Json = {},
): Promise<Serving> {
  serving = await Serving.start(version, specs, (upstreams) => {
    upstreamsOf = upstreams;
    const others = Object.keys(specs).map((name) => ({
      ...staticCluster(name, [upstreams.port(name)]),
      ...ofEveryCluster,
    }));
    const [first, ...rest] = clusters();
    const { settings, retry, ...definition } = first ?? {};
    const text = stringify(bootstrap(settings, retry, admin, [...others, ...rest, definition]), {
      aliasDuplicateObjects: false,
    });
    return lower(text, { file: "native.yaml", wasm: WASM }).text;
  });
  return serving;
}

function bootstrap(settings: unknown, retry: unknown, admin: Json, clusters: Json[]): Json {
  const back_off = { retry_back_off: { base_interval: "0.002s" } };
  const retry_policy = { retry_on: "5xx", num_retries: 1, ...back_off, ...(retry as Json) };
  const route = {
    match: { prefix: "/" },
    metadata: { filter_metadata: { attempt_router: { availability: "PROBE", ...(settings as Json) } } },
    route: { cluster: "tiers", retry_policy },
  };
  const byHeader = {
    match: { prefix: "/", headers: [{ name: "x-to", present_match: true }] },
    // A promise, which the client does not keep.
    metadata: { filter_metadata: { attempt_router: { allowed_clusters: ["b"] } } },
    route: { cluster_header: "x-to" },
  };
  const manager = {
    "@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
    stat_prefix: "ingress",
    route_config: { virtual_hosts: [{ name: "all", domains: ["*"], routes: [byHeader, route] }] },
    http_filters: [{ name: "router", typed_config: { "@type": `${HTTP}.router.v3.Router` } }],
  };
  const filters = [{ name: "manager", typed_config: manager }];
  return {
    node: { id: "test", cluster: "test" },
    admin,
    static_resources: { listeners: [{ name: "ingress", address: ANY_PORT, filter_chains: [{ filters }] }], clusters },
  };
}

function composite(names: string[], settings: Json = {}): Json {
  return {
    name: "tiers",
    lb_policy: "CLUSTER_PROVIDED",
    cluster_type: {
      name: "envoy.clusters.composite",
      typed_config: { "@type": COMPOSITE, clusters: names.map((name) => ({ name })) },
    },
    settings,
  };
}

/** Upstream filters that stand in the place of the router's, and so of those that refuse a probe. */
function ownFilters(): Json {
  const options = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions";
  const http_filters = [
    { name: "mutation", typed_config: { "@type": `${HTTP}.header_mutation.v3.HeaderMutation` } },
    { name: "codec", typed_config: { "@type": `${HTTP}.upstream_codec.v3.UpstreamCodec` } },
  ];
  const explicit_http_config = { http_protocol_options: {} };
  const typed = { "@type": `type.googleapis.com/${options}`, explicit_http_config, http_filters };
  return { typed_extension_protocol_options: { [options]: typed } };
}

function edsCluster(name: string): Json {
  return { name, type: "EDS", connect_timeout: "1s", eds_cluster_config: { eds_config: endpoints.source } };
}

/** Replaces the endpoints of the cluster `eds` and waits until the module knows. */
async function endpointsAre(ports: number[], admin: Admin): Promise<void> {
  writeEndpoints("eds", ports);
  await admin.waitForStat("cluster.eds.membership_total", (hosts) => hosts === ports.length);
  await awaitRound(admin);
}

function writeEndpoints(name: string, ports: number[]): void {
  const type = "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment";
  endpoints.write(stringify({ resources: [{ "@type": type, ...assignment(name, ports) }] }));
}
