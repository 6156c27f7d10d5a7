// Priority groups that pass over clusters without a healthy host, on real Envoys.

import { describe, expect, test } from "vitest";
import { envoyVersions } from "../../tools/envoy/binary.js";
import { observe, type Options } from "./attempt-runs.js";

const { versions } = await envoyVersions();
const settings = { skip_clusters_without_hosts: true };

describe.each(versions)("Envoy %s: skip_clusters_without_hosts on priority groups", (version) => {
  const groups = [["a", "b", "c"], ["d"], ["e"]];
  const all: Options["upstreams"] = { a: 503, b: 503, c: 503, d: 503, e: 200 };

  /** The hops of a request that picks the cluster at `pick` of the first group, where `none` have no host. */
  async function hops(none: string[], pick = 0, more: Partial<Options> = {}): Promise<string[]> {
    const upstreams = Object.fromEntries(Object.entries(all).filter(([name]) => !none.includes(name)));
    const options = { upstreams, groups, noHosts: none, settings, ...more };
    const [served] = await observe(version, options, [{ "x-pick": String(pick) }]);
    return served?.hops ?? [];
  }

  test("every attempt uses the pick where it has a host", async () => {
    expect(await hops([], 1)).toEqual(["b", "d", "e"]);
  });

  test("the rest of the group by its order, then the groups behind it, within the attempt", async () => {
    expect(await hops(["a"])).toEqual(["b", "d", "e"]);
    expect(await hops(["c"], 2)).toEqual(["a", "d", "e"]);
    expect(await hops(["a", "c"], 2)).toEqual(["b", "d", "e"]);
    expect(await hops(["a", "b", "c"], 1)).toEqual(["d", "d", "e"]);
    expect(await hops(["a", "b", "c", "d"])).toEqual(["e"]);
  });

  test("a later attempt does the same, and never goes back to a group before", async () => {
    expect(await hops(["d"])).toEqual(["a", "e"]);
  });

  test("no host anywhere is 503, as natively", async () => {
    const options: Options = { upstreams: { z: 200 }, groups: [["a"], ["b"]], noHosts: ["a", "b"], settings };
    const [served] = await observe(version, options);
    expect(served).toMatchObject({ status: 503, hops: [] });
  });

  test("without the setting, and with false, the request ends", async () => {
    expect(await hops(["a"], 0, { settings: {} })).toEqual([]);
    expect(await hops(["a"], 0, { settings: { skip_clusters_without_hosts: false } })).toEqual([]);
  });

  test("of a virtual host counts for its routes", async () => {
    expect(await hops(["a"], 0, { settings: {}, hostSettings: settings })).toEqual(["b", "d", "e"]);
  });

  test("with one slot for all attempts", async () => {
    expect(await hops(["a", "d"], 0, { lowering: { attemptHeader: false } })).toEqual(["b", "e"]);
  });

  test("with steps, and the record names the clusters that had the host", async () => {
    const steps = [{ on: { statuses: [429] }, next: "e" }];
    const options: Options = {
      upstreams: { a: 429, b: 200, d: 200, f: 200 },
      groups: [["a"], ["d"], ["e"], ["f"]],
      noHosts: ["e"],
      settings: { ...settings, steps, record_attempts: true },
    };
    const [served] = await observe(version, options);
    expect(served).toMatchObject({ status: 200, hops: ["a", "f"], record: "a:429,f:200" });
  });

  test("HTTP/2 clusters keep their protocol", async () => {
    const protocol = {
      "@type": "type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions",
      explicit_http_config: { http2_protocol_options: {} },
    };
    const options: Options = {
      clusterFields: {
        typed_extension_protocol_options: { "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": protocol },
      },
      upstreams: { a: { protocol: "http2", script: 503 }, b: { protocol: "http2", script: 200 } },
      groups: [["a"], ["b"]],
      settings,
    };
    expect((await observe(version, options))[0]).toMatchObject({ status: 200, hops: ["a", "b"] });
  });

  test("one healthy host of many is enough to stay", async () => {
    const endpoint = (port: number, health_status: string) => ({
      health_status,
      endpoint: { address: { socket_address: { address: "127.0.0.1", port_value: port } } },
    });
    const options: Options = {
      upstreams: { a: 503, b: 200, c: 200 },
      groups: [["mixed"], ["c"]],
      moreClusters: (port) => {
        const sick = Array.from({ length: 9 }, () => endpoint(port("a"), "UNHEALTHY"));
        const lb_endpoints = [...sick, endpoint(port("b"), "HEALTHY")];
        const common_lb_config = { healthy_panic_threshold: { value: 0 } };
        const load_assignment = { cluster_name: "mixed", endpoints: [{ lb_endpoints }] };
        return [{ name: "mixed", type: "STATIC", connect_timeout: "2s", common_lb_config, load_assignment }];
      },
      settings,
    };
    const served = await observe(version, options, Array<Record<string, string>>(20).fill({}));
    expect(new Set(served.flatMap(({ hops: all }) => all))).toEqual(new Set(["b"]));
  });

  test("an override's named groups go on as configured, its own clusters do not", async () => {
    const upstreams = { a: 200, b: 200, c: 200 };
    const groups = [["a"], ["none"], ["c"]];
    const options: Options = { upstreams, groups, noHosts: ["none"], settings };
    const named = await observe(version, { ...options, override: [{ name: "none" }] });
    expect(named[0]).toMatchObject({ status: 200, hops: ["c"] });
    const clusters = [{ cluster_name: "none", weight: 1 }];
    const own = await observe(version, { ...options, override: [{ name: "x", clusters }] });
    expect(own[0]).toMatchObject({ status: 503, hops: [] });
  });
});
