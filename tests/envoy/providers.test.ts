import { randomBytes } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import versions from "../../tools/envoy/versions.json" with { type: "json" };
import { waitFor } from "../../tools/wait.js";
import type { Config } from "../support/case.js";
import { staticCluster } from "../support/clusters.js";
import { group, lua, priorityGroups } from "../support/config.js";
import { ANSWERS_HEADER } from "../support/tls-providers.js";
import {
  headersOf,
  ordered,
  ORDERS,
  PATHS,
  ProviderRuns,
  retry_policy,
  seesItsOwn,
  seesNothingOfOthers,
} from "./provider-runs.js";

const TYPE = "type.googleapis.com/envoy";
const OPTIONS = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions";

let runs: ProviderRuns;
beforeAll(async () => {
  runs = await ProviderRuns.create();
});
afterEach(() => runs.stop());
afterAll(() => runs.end());

function composite(name: string, ...names: string[]): Config {
  const type = `${TYPE}.extensions.clusters.composite.v3.ClusterConfig`;
  const typed_config = { "@type": type, clusters: names.map((one) => ({ name: one })) };
  const cluster_type = { name: "envoy.clusters.composite", typed_config };
  return { name, connect_timeout: "1s", lb_policy: "CLUSTER_PROVIDED", cluster_type };
}

describe.each(versions.versions)("providers on Envoy %s", (version) => {
  it("each see their own and nothing of another, in every order, after 429 and after a reset", async () => {
    const routes = ORDERS.map((order) => ({
      ...ordered(order),
      match: { prefix: "/", headers: [{ name: "x-order", string_match: { exact: order.join("") } }] },
    }));
    await runs.start(version, { routes });
    const body = randomBytes(200_000);
    for (const [index, order] of ORDERS.entries()) {
      const answers = ["429,reset,429,200", "reset,429,reset,429"][index % 2] ?? "";
      await runs.post({ "x-order": order.join(""), [ANSWERS_HEADER]: answers }, body);
      const visits = runs.attempts();
      expect(visits.map((visit) => visit.provider)).toEqual(order);
      for (const visit of visits) {
        seesNothingOfOthers(visit);
        seesItsOwn(visit);
        expect(visit.body.equals(body)).toBe(true);
      }
    }
  });

  it("are not told of each other by an internal redirect, nor are the routes that it leads to", async () => {
    const internal_redirect_policy = { redirect_response_codes: [302], max_internal_redirects: 2 };
    const target = { match: { prefix: "/target" }, route: { cluster: "own", timeout: "5s" } };
    await runs.start(version, { routes: [target, ordered(["a", "b"], { internal_redirect_policy })] });
    await runs.post({ [ANSWERS_HEADER]: "302", "x-location": "http://gateway.test/target?q=1" });
    const [first, redirected, ...others] = [...runs.providers.take(), ...runs.attempts()];
    expect(others).toEqual([]);
    expect(first?.path).toBe(PATHS["a"]);
    expect([redirected?.provider, redirected?.path]).toEqual(["own", "/target?q=1"]);
    if (redirected !== undefined) seesNothingOfOthers(redirected);
  });

  it("are not told of each other by a mirrored request", async () => {
    const request_mirror_policies = [{ cluster: "b" }, { cluster: "own" }];
    await runs.start(version, { routes: [ordered(["a"], { request_mirror_policies })] });
    await runs.post({});
    await waitFor("three requests", () => runs.providers.visits.length === 2 && runs.upstreams.hops.length === 1);
    for (const visit of runs.attempts()) {
      seesNothingOfOthers(visit);
      expect([visit.provider, visit.path]).toEqual([visit.provider, PATHS[visit.provider]]);
    }
  });

  it("are not told of each other by a hedged request", async () => {
    const hedge_policy = { hedge_on_per_try_timeout: true };
    const hedged = { hedge_policy, retry_policy: { ...retry_policy, per_try_timeout: "0.6s", num_retries: 1 } };
    await runs.start(version, { routes: [ordered(["a", "b"], hedged)] });
    await runs.post({ [ANSWERS_HEADER]: "hang,200" });
    const visits = runs.attempts();
    expect(visits.length).toBe(2);
    for (const visit of visits) {
      seesNothingOfOthers(visit);
      seesItsOwn(visit);
    }
  });

  it("are kept apart where metadata names the groups", async () => {
    const override = priorityGroups([group("own")], { override_metadata_namespace: "chain" });
    const write = lua(`function envoy_on_request(handle)
      handle:streamInfo():dynamicMetadata():set("chain", "priority_groups", {
        {name = "1", clusters = {{cluster_name = "c", weight = 1}}}, {name = "2", clusters = {{cluster_name = "b", weight = 1}}},
        {name = "3", clusters = {{cluster_name = "a", weight = 1}}}})
    end`);
    await runs.start(version, { routes: [ordered([], override)], filters: [write] });
    await runs.post({ [ANSWERS_HEADER]: "429,429,200" });
    const visits = runs.attempts();
    expect(visits.map((visit) => visit.provider)).toEqual(["c", "b", "a"]);
    visits.forEach(seesNothingOfOthers);
    visits.forEach(seesItsOwn);
  });

  it("are kept apart as members of a composite cluster, and from the members of one", async () => {
    const routes = [
      {
        match: { prefix: "/", headers: [{ name: "x-list", present_match: true }] },
        route: { cluster: "list", retry_policy },
      },
      ordered(["a", "owns"]),
    ];
    await runs.start(version, {
      routes,
      more: [composite("list", "a", "own", "b"), composite("owns", "own", "own")],
    });
    await runs.post({ "x-list": "1", [ANSWERS_HEADER]: "429,503,200" });
    const listed = runs.attempts();
    await runs.post({ [ANSWERS_HEADER]: "429" });
    const grouped = runs.attempts();
    expect([listed, grouped].map((visits) => visits.map((visit) => visit.provider))).toEqual([
      ["a", "own", "b"],
      ["a", "own"],
    ]);
    for (const visit of [...listed, ...grouped]) {
      seesNothingOfOthers(visit);
      seesItsOwn(visit);
    }
  });

  it("keep the upstream filters of the router, and those of a cluster's own after theirs", async () => {
    const upstream_http_filters = [adds("x-router", "yes"), CODEC];
    const own = { "@type": `type.googleapis.com/${OPTIONS}`, explicit_http_config: { http_protocol_options: {} } };
    const http_filters = [adds("x-own", "%REQ(authorization)%"), CODEC];
    const c = runs.tlsCluster("c", { typed_extension_protocol_options: { [OPTIONS]: { ...own, http_filters } } });
    await runs.start(version, {
      routes: [ordered(["a", "c"])],
      router: { upstream_http_filters },
      clusters: [runs.tlsCluster("a"), c],
    });
    expect(await runs.post({ [ANSWERS_HEADER]: "429,200" })).toBe(200);
    const seen = runs.attempts().map(headersOf);
    expect(seen.map((headers) => [headers["x-router"], headers["x-own"]])).toEqual([
      ["yes", undefined],
      ["yes", "key-of-c"],
    ]);
  });

  it("get no request where the certificate is another's", async () => {
    const a = runs.tlsCluster("a", staticCluster("a", [runs.providers.port("b")]));
    await runs.start(version, { routes: [ordered(["a"])], clusters: [a] });
    expect(await runs.post({})).toBe(503);
    expect(runs.attempts()).toEqual([]);
  });
});

const CODEC = {
  name: "envoy.filters.http.upstream_codec",
  typed_config: { "@type": `${TYPE}.extensions.filters.http.upstream_codec.v3.UpstreamCodec` },
};

function adds(key: string, value: string): Config {
  const type = `${TYPE}.extensions.filters.http.header_mutation.v3.HeaderMutation`;
  const typed_config = { "@type": type, mutations: { request_mutations: [{ append: { header: { key, value } } }] } };
  return { name: `adds-${key}`, typed_config };
}
