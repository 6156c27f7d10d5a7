// Providers among the clusters of an aggregate: which of them has the host is known when the attempt is sent.

import { randomBytes } from "node:crypto";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import versions from "../../tools/envoy/versions.json" with { type: "json" };
import { waitFor } from "../../tools/wait.js";
import type { Config } from "../support/case.js";
import { staticCluster } from "../support/clusters.js";
import { priorityGroups } from "../support/config.js";
import { ANSWERS_HEADER } from "../support/tls-providers.js";
import { ordered, ORDERS, ProviderRuns, retry_policy, seesItsOwn, seesNothingOfOthers } from "./provider-runs.js";

const TYPE = "type.googleapis.com/envoy";
const SKIP = { skip_clusters_without_hosts: true };

let runs: ProviderRuns;
beforeAll(async () => {
  runs = await ProviderRuns.create();
});
afterEach(() => runs.stop());
afterAll(() => runs.end());

function withSettings(route: Config, settings: Config): Config {
  return { ...route, metadata: { filter_metadata: { attempt_router: settings } } };
}

/** A provider whose key and path no one may see: it has no host. */
function empty(): Config {
  const request_headers = { set: [{ header: { key: "x-empty-key", value: "x-attempt-router-key" } }] };
  const provider = { path_prefix: "/x-attempt-router-path", host: "x-attempt-router-host.example", request_headers };
  return { ...staticCluster("empty", []), metadata: { filter_metadata: { attempt_router: { provider } } } };
}

/** Groups in which `empty` is picked, so that each attempt is served by the host of another cluster. */
function spilling(order: readonly string[], more: Config = {}): Config {
  const groups = order.map((name) => ({
    name,
    clusters: ["empty", name].map((cluster_name) => ({ cluster_name, weight: 1 })),
  }));
  const specifier = priorityGroups(groups, { header_name: "x-pick" });
  return withSettings({ match: { prefix: "/" }, route: { ...specifier, retry_policy, timeout: "5s", ...more } }, SKIP);
}

async function providersOf(headers: Record<string, string>, body?: Buffer): Promise<string[]> {
  await runs.post({ "x-pick": "0", ...headers }, body);
  const visits = runs.attempts();
  for (const visit of visits) {
    seesNothingOfOthers(visit);
    seesItsOwn(visit);
    if (body !== undefined) expect(visit.body.equals(body)).toBe(true);
  }
  return visits.map((visit) => visit.provider);
}

describe.each(versions.versions)("providers of an aggregate on Envoy %s", (version) => {
  it.each([
    ["the pick has the host", (order: readonly string[]) => withSettings(ordered(order), SKIP)],
    ["another cluster has it", (order: readonly string[]) => spilling(order)],
  ])("see their own alone where %s, in every order, after 429 and after a reset", async (_, routeOf) => {
    const routes = ORDERS.map((order) => ({
      ...routeOf(order),
      match: { prefix: "/", headers: [{ name: "x-order", string_match: { exact: order.join("") } }] },
    }));
    await runs.start(version, { routes, more: [empty()] });
    const body = randomBytes(200_000);
    for (const [index, order] of ORDERS.entries()) {
      const answers = ["429,reset,429,200", "reset,429,reset,429"][index % 2] ?? "";
      expect(await providersOf({ "x-order": order.join(""), [ANSWERS_HEADER]: answers }, body)).toEqual(order);
    }
  });

  it("see their own alone while others cool down", async () => {
    const cool_down = { statuses: [429], base: "300s" };
    await runs.start(version, { routes: [withSettings(ordered(["a", "b", "c"]), { cool_down })] });
    const next = (answers: string) => providersOf({ [ANSWERS_HEADER]: answers });
    expect(await next("429,200")).toEqual(["a", "b"]);
    await waitFor("a to be left out", async () => (await next("200"))[0] === "b");
    expect(await next("reset,200")).toEqual(["b", "b"]);
    expect((await next("429,200"))[0]).toBe("b");
    await waitFor("b to be left out", async () => (await next("200"))[0] === "c");
    // All of them: panic routing asks the pick.
    await next("429,200");
    await waitFor("panic routing", async () => (await next("200"))[0] === "a");
  });

  it("are told apart by the names of their hosts, whoever resolves them", async () => {
    const family = { dns_lookup_family: "V4_ONLY" };
    const named = (name: string, more: Config) => {
      const port_value = runs.providers.port(name);
      const lb_endpoints = [{ endpoint: { address: { socket_address: { address: "localhost", port_value } } } }];
      const load_assignment = { cluster_name: name, endpoints: [{ lb_endpoints }] };
      return runs.tlsCluster(name, { load_assignment, ...more });
    };
    const typed_config = { "@type": `${TYPE}.extensions.clusters.dns.v3.DnsCluster`, ...family };
    const c = { type: undefined, cluster_type: { name: "envoy.clusters.dns", typed_config } };
    const clusters = [
      named("a", { type: "STRICT_DNS", ...family }),
      named("b", { type: "LOGICAL_DNS", ...family }),
      named("c", c),
    ];
    await runs.start(version, { routes: [spilling(["b", "a", "c"])], clusters, more: [empty()] });
    expect(await providersOf({ [ANSWERS_HEADER]: "429,429,200" })).toEqual(["b", "a", "c"]);
  });

  it("are not chosen by a header of the client's", async () => {
    await runs.start(version, { routes: [spilling(["own", "c"])], more: [empty()] });
    expect(await providersOf({ "x-attempt-router-member": "a" })).toEqual(["own", "c"]);
  });

  it("are kept apart in an aggregate that the file has", async () => {
    const typed_config = {
      "@type": `${TYPE}.extensions.clusters.aggregate.v3.ClusterConfig`,
      clusters: ["empty", "b"],
    };
    const cluster_type = { name: "envoy.clusters.aggregate", typed_config };
    const all = { name: "all", connect_timeout: "1s", lb_policy: "CLUSTER_PROVIDED", cluster_type };
    await runs.start(version, { routes: [ordered(["a", "all", "own"])], more: [empty(), all] });
    expect(await providersOf({ [ANSWERS_HEADER]: "429,reset,200" })).toEqual(["a", "b", "own", "own"]);
  });

  it("are not told of each other by a hedged request", async () => {
    const hedge_policy = { hedge_on_per_try_timeout: true };
    const hedged = { hedge_policy, retry_policy: { ...retry_policy, per_try_timeout: "0.6s", num_retries: 1 } };
    await runs.start(version, { routes: [spilling(["a", "b"], hedged)], more: [empty()] });
    expect((await providersOf({ [ANSWERS_HEADER]: "hang,200" })).length).toBe(2);
  });

  it("are not told of each other by an internal redirect, nor are the routes that it leads to", async () => {
    const internal_redirect_policy = { redirect_response_codes: [302], max_internal_redirects: 2 };
    const target = { match: { prefix: "/target" }, route: { cluster: "own", timeout: "5s" } };
    const routes = [target, spilling(["a", "b"], { internal_redirect_policy })];
    await runs.start(version, { routes, more: [empty()] });
    await runs.post({ "x-pick": "0", [ANSWERS_HEADER]: "302", "x-location": "http://gateway.test/target?q=1" });
    const visits = [...runs.providers.take(), ...runs.attempts()];
    expect(visits.map(({ provider, path }) => [provider, path])).toEqual([
      ["a", expect.stringMatching(/^\/pa\//)],
      ["own", "/target?q=1"],
    ]);
    visits.forEach(seesNothingOfOthers);
  });
});
