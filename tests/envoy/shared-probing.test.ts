import { afterEach, describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { lower } from "../../cli/lower.js";
import { envoyVersions } from "../../tools/envoy/binary.js";
import { ANY_PORT } from "../../tools/envoy/process.js";
import { awaitRound } from "../support/availability.js";
import { staticCluster } from "../support/clusters.js";
import { WASM } from "../support/lowering.js";
import { Serving } from "../support/serving.js";
import type { Upstreams } from "../support/upstreams.js";

const { versions } = await envoyVersions();
const HAS_HOST = "wasmcustom.attempt_router.cluster_has_host";
const HTTP = "type.googleapis.com/envoy.extensions.filters";

type Json = Record<string, unknown>;

let serving: Serving | undefined;

afterEach(async () => {
  await serving?.stop();
});

describe.each(versions)("Envoy %s", (version) => {
  test("asks once for all listeners that watch a cluster in common", async () => {
    // Each virtual machine of a worker learns of a cluster by itself, so the counter tells how many asked.
    expect(await learned(version, ["ab", "ac"])).toBe(1);
  });

  test("asks apart for listeners that have nothing in common but a last cluster", async () => {
    expect(await learned(version, ["ac", "bc"])).toBe(2);
  });
});

/** How often a worker has learned that a cluster has a host, with a listener for each of these lists of clusters. */
async function learned(version: string, lists: string[]): Promise<number> {
  serving = await Serving.start(version, { a: 200, b: 200, c: 200 }, (upstreams) => {
    const text = stringify(bootstrap(lists, upstreams), { aliasDuplicateObjects: false });
    return lower(text, { file: "native.yaml", wasm: WASM }).text;
  });
  const { admin } = serving.envoy;
  await admin.waitForStat(HAS_HOST, (count) => count > 0);
  await awaitRound(admin);
  await awaitRound(admin);
  return admin.stat(HAS_HOST);
}

function bootstrap(lists: string[], upstreams: Upstreams): Json {
  const clusters = ["a", "b", "c"].map((name) => staticCluster(name, [upstreams.port(name)]));
  const listeners = lists.map((list, index) => listener(index === 0 ? "ingress" : list, list));
  return {
    node: { id: "test", cluster: "test" },
    admin: { address: ANY_PORT },
    static_resources: { listeners, clusters: [...clusters, ...lists.map(composite)] },
  };
}

function composite(list: string): Json {
  const typed_config = {
    "@type": "type.googleapis.com/envoy.extensions.clusters.composite.v3.ClusterConfig",
    clusters: list.split("").map((name) => ({ name })),
  };
  const cluster_type = { name: "envoy.clusters.composite", typed_config };
  return { name: `tiers_${list}`, lb_policy: "CLUSTER_PROVIDED", cluster_type };
}

function listener(name: string, list: string): Json {
  const route = {
    match: { prefix: "/" },
    metadata: { filter_metadata: { attempt_router: { availability: "PROBE", availability_interval_ms: 20 } } },
    route: { cluster: `tiers_${list}` },
  };
  const manager = {
    "@type": `${HTTP}.network.http_connection_manager.v3.HttpConnectionManager`,
    stat_prefix: name,
    route_config: { virtual_hosts: [{ name: "all", domains: ["*"], routes: [route] }] },
    http_filters: [{ name: "router", typed_config: { "@type": `${HTTP}.http.router.v3.Router` } }],
  };
  return { name, address: ANY_PORT, filter_chains: [{ filters: [{ name: "manager", typed_config: manager }] }] };
}
