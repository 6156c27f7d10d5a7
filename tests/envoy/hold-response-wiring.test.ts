// Where answers are held: every way to choose a cluster, every chain of filters, and nowhere else.

import * as http from "node:http";
import { once } from "node:events";
import { describe, expect, it } from "vitest";
import versions from "../../tools/envoy/versions.json" with { type: "json" };
import type { Config } from "../support/case.js";
import { holding, type HoldingSpec } from "../support/holding.js";
import { EVENTS, JSON_TYPE, says, stalls, type Play } from "../support/providers.js";

const ERROR = 'event: error\ndata: {"type":"error"}\n\n';
const GOOD = "data: fine\n\n";
const FAILS = says(EVENTS, ERROR);
const SERVES = says(EVENTS, GOOD);
const HOLD = { errors: [{ event: "error", status: 529 }] };
const TYPE = "type.googleapis.com/envoy";

const mutation = (header: string): Config => ({
  name: `mutation_${header}`,
  typed_config: {
    "@type": `${TYPE}.extensions.filters.http.header_mutation.v3.HeaderMutation`,
    mutations: { request_mutations: [{ append: { header: { key: header, value: "1" } } }] },
  },
});
const composite = (...names: string[]): Config => ({
  name: "composite",
  connect_timeout: "1s",
  lb_policy: "CLUSTER_PROVIDED",
  cluster_type: {
    name: "envoy.clusters.composite",
    typed_config: {
      "@type": `${TYPE}.extensions.clusters.composite.v3.ClusterConfig`,
      clusters: names.map((name) => ({ name })),
    },
  },
});

/** Answers in turn. */
function inTurn(...plays: Play[]): Play {
  let turn = 0;
  return (answer, request) => plays[Math.min(turn++, plays.length - 1)]?.(answer, request);
}

const TWO = { first: FAILS, second: SERVES };

const SPECS: Record<string, HoldingSpec> = {
  "a chain of single clusters": { providers: TWO },
  "a chain of weighted clusters": {
    providers: TWO,
    action: weighted(["first", "first"], ["second", "second"]),
  },
  "one slot for all attempts": { providers: TWO, options: { attemptHeader: false } },
  "a composite cluster": {
    providers: TWO,
    action: { cluster: "composite" },
    clusters: [composite("first", "second")],
  },
  "clusters with filters of their own": { providers: TWO, clusterFilters: [mutation("x-own")] },
  "clusters with filters of their own, and one slot": {
    providers: TWO,
    clusterFilters: [mutation("x-own")],
    options: { attemptHeader: false },
  },
  "upstream filters of the router": { providers: TWO, routerFilters: [mutation("x-router")] },
  "the setting on the virtual host": { providers: TWO, hold: null, hostSettings: { hold_response: HOLD } },
  "another setting on the virtual host": {
    providers: TWO,
    hostSettings: { hold_response: { errors: [{ event: "other", status: 500 }] } },
  },
  "a status of its own that the policy names": {
    providers: TWO,
    hold: { errors: [{ event: "error", status: 429 }] },
    retries: { retry_on: "retriable-status-codes" },
  },
  "HTTP/2 providers": { providers: TWO, protocol: "http2" },
};

function weighted(...groups: string[][]): Config {
  const type = `${TYPE}.extensions.router.cluster_specifiers.priority_group.v3.PriorityGroupClusterSpecifier`;
  const priority_groups = groups.map((names, index) => ({
    name: String(index),
    clusters: names.map((cluster_name) => ({ cluster_name, weight: 1 })),
  }));
  const name = "envoy.router.cluster_specifier_plugin.priority_group";
  return {
    inline_cluster_specifier_plugin: { extension: { name, typed_config: { "@type": type, priority_groups } } },
  };
}

describe.each(versions.versions)("on Envoy %s, answers are held with", (version) => {
  it.each(Object.entries(SPECS))("%s", async (_, spec) => {
    await holding(version, { hold: HOLD, ...spec }, async (proxy) => {
      for (let i = 0; i < 2; i++) {
        const { result, hops } = await proxy.sendAndCount();
        expect(result).toMatchObject({ status: 200, body: GOOD });
        expect(hops).toEqual([1, 1]);
      }
    });
  });

  it("a plain cluster, of which another host may answer", async () => {
    const spec = { providers: { only: inTurn(FAILS, SERVES) }, hold: HOLD, action: { cluster: "only" } };
    await holding(version, { ...spec, retries: { num_retries: 1 } }, async (proxy) => {
      const { result, hops } = await proxy.sendAndCount();
      expect(result).toMatchObject({ status: 200, body: GOOD });
      expect(hops).toEqual([2]);
    });
  });

  it("several retries, and a reset among them", async () => {
    const silent = stalls(EVENTS, ": ping\n\n");
    const breaks: Play = (answer) => {
      stalls(EVENTS, ": ping\n\n")(answer, undefined as never);
      setImmediate(() => answer.destroy());
    };
    const hold = { ...HOLD, not_content: [{ comment: true }], empty: 502 };
    const providers = { a: FAILS, b: silent, c: says(EVENTS), d: breaks, e: says(JSON_TYPE, "{}") };
    await holding(version, { providers, hold, retries: { per_try_timeout: "0.5s" } }, async (proxy) => {
      const { result, hops } = await proxy.sendAndCount();
      expect(hops).toEqual([1, 1, 1, 1, 1]);
      expect(result).toMatchObject({ status: 200, body: "{}" });
    });
  });

  it("what a breaker refuses to retry goes to the client as it is", async () => {
    const cluster = { circuit_breakers: { thresholds: [{ max_retries: 0 }] } };
    await holding(version, { providers: TWO, hold: HOLD, cluster }, async (proxy) => {
      const { result, hops } = await proxy.sendAndCount();
      expect(hops).toEqual([1, 0]);
      expect(result).toMatchObject({ status: 200, body: ERROR });
    });
  });

  it("what the policy does not retry goes to the client as it is", async () => {
    await holding(version, { providers: TWO, hold: HOLD, retries: { retry_on: "reset" } }, async (proxy) => {
      const { result, hops } = await proxy.sendAndCount();
      expect(hops).toEqual([1, 0]);
      expect(result).toMatchObject({ status: 200, body: ERROR });
    });
  });

  it("nothing where the setting is not: headers come before the first byte", async () => {
    const routes = [{ match: { prefix: "/free" }, route: { cluster: "first" } }];
    const providers = { first: stalls(EVENTS), second: SERVES };
    await holding(version, { providers, hold: HOLD, routes }, async (proxy) => {
      const call = http.get({ port: proxy.envoy.port("ingress"), path: "/free", agent: false });
      const [response] = (await once(call, "response")) as [http.IncomingMessage];
      expect(response.statusCode).toBe(200);
      call.destroy();
    });
  });

  it("a cluster's outlier detection, which sees the status", async () => {
    const cluster = {
      outlier_detection: { consecutive_5xx: 1, base_ejection_time: "600s", max_ejection_percent: 100 },
    };
    await holding(version, { providers: TWO, hold: HOLD, cluster }, async (proxy) => {
      await proxy.send();
      expect(await proxy.envoy.admin.stat("cluster.first.retry.upstream_rq_529")).toBe(1);
      expect(await proxy.envoy.admin.stat("cluster.first.outlier_detection.ejections_active")).toBe(1);
    });
  });
});
