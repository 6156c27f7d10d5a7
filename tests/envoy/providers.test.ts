import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stringify } from "yaml";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { lower } from "../../cli/lower.js";
import { ANY_PORT, EnvoyProcess } from "../../tools/envoy/process.js";
import versions from "../../tools/envoy/versions.json" with { type: "json" };
import { waitFor } from "../../tools/wait.js";
import type { Config } from "../support/case.js";
import { staticCluster } from "../support/clusters.js";
import { group, lua, priorityGroups } from "../support/config.js";
import { ANSWERS_HEADER, CERTIFICATES, TlsProviders, type Visit } from "../support/tls-providers.js";
import { Upstreams } from "../support/upstreams.js";

const TYPE = "type.googleapis.com/envoy";
const OPTIONS = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions";
const PATH = "/v1/chat?user=a%2Fb&n=1";

/** What each provider, and no other, may see. */
const SECRETS: Record<string, string[]> = {
  a: ["key-of-a", "a.example", "/pa"],
  b: ["key-of-b", "b.example", "/pb/v0", "vendor-b-version"],
  c: ["key-of-c", "c.example"],
};
const PATHS: Record<string, string> = { a: `/pa${PATH}`, b: `/pb/v0${PATH}`, c: PATH, own: PATH };
const ORDERS = permutations(["a", "b", "c", "own"]);

let folder: string;
let providers: TlsProviders;
let upstreams: Upstreams;
let envoy: EnvoyProcess | undefined;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "attempt-router-providers-"));
  writeFileSync(join(folder, "key-a"), "key-of-a");
  const secret = { "@type": `${TYPE}.extensions.transport_sockets.tls.v3.Secret`, name: "key-b" };
  const generic_secret = { secret: { inline_string: "key-of-b" } };
  writeFileSync(join(folder, "b.yaml"), stringify({ resources: [{ ...secret, generic_secret }] }));
  providers = await TlsProviders.start(["a", "b", "c"]);
});
afterEach(async () => {
  await envoy?.stop();
  await upstreams.close();
  envoy = undefined;
  providers.take();
});
afterAll(async () => {
  await providers.close();
  rmSync(folder, { recursive: true });
});

function provider(name: string): Config {
  if (name === "a") {
    const credential = { prefix: "Bearer ", file: join(folder, "key-a") };
    return { host: "a.example", path_prefix: "/pa", credential, request_headers: { remove: ["x-tenant", "cookie"] } };
  }
  if (name === "b") {
    const sds_config = { path_config_source: { path: join(folder, "b.yaml") } };
    const set = [{ header: { key: "X-Vendor-Version", value: "vendor-b-version" } }];
    const credential = { header: "x-api-key", secret: { name: "key-b", sds_config } };
    return { host: "b.example:443", path_prefix: "/pb/v0", credential, request_headers: { set } };
  }
  return { host: "c.example", request_headers: { set: [{ header: { key: "authorization", value: "key-of-c" } }] } };
}

function tlsCluster(name: string, more: Config = {}): Config {
  const common_tls_context = { validation_context: { trusted_ca: { filename: `${CERTIFICATES}authority.pem` } } };
  const type = `${TYPE}.extensions.transport_sockets.tls.v3.UpstreamTlsContext`;
  return {
    ...staticCluster(name, [providers.port(name)]),
    metadata: { filter_metadata: { attempt_router: { provider: provider(name) } } },
    transport_socket: { name: "tls", typed_config: { "@type": type, common_tls_context } },
    ...more,
  };
}

function composite(name: string, ...names: string[]): Config {
  const type = `${TYPE}.extensions.clusters.composite.v3.ClusterConfig`;
  const typed_config = { "@type": type, clusters: names.map((one) => ({ name: one })) };
  const cluster_type = { name: "envoy.clusters.composite", typed_config };
  return { name, connect_timeout: "1s", lb_policy: "CLUSTER_PROVIDED", cluster_type };
}

const retry_policy = {
  retry_on: "5xx,reset,connect-failure,retriable-status-codes",
  retriable_status_codes: [429],
  num_retries: 3,
  refresh_cluster_on_retry: true,
};

function ordered(order: readonly string[], more: Config = {}): Config {
  const groups = order.map((name) => group(name));
  return { match: { prefix: "/" }, route: { ...priorityGroups(groups), retry_policy, timeout: "5s", ...more } };
}

interface Setup {
  routes: Config[];
  filters?: Config[];
  router?: Config;
  clusters?: Config[];
}

async function start(
  version: string,
  { routes, filters = [], router = {}, clusters }: Setup,
  more: Config[] = [],
): Promise<void> {
  upstreams = await Upstreams.start({ own: 503 });
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
  const all = clusters ?? [
    tlsCluster("a"),
    tlsCluster("b"),
    tlsCluster("c"),
    staticCluster("own", [upstreams.port("own")]),
  ];
  const bootstrap = {
    node: { id: "test", cluster: "test" },
    admin: { address: ANY_PORT },
    static_resources: { listeners: [listener], clusters: [...all, ...more] },
  };
  const native = stringify(bootstrap, { aliasDuplicateObjects: false, lineWidth: 0, compat: "yaml-1.1" });
  envoy = await EnvoyProcess.start(version, lower(native, { file: "providers.yaml" }).text);
}

async function post(headers: Record<string, string>, body: Buffer = Buffer.alloc(0)): Promise<number> {
  const port = envoy?.port("ingress");
  const all = { host: "gateway.test", authorization: "key-of-client", "x-tenant": "t1", cookie: "c=1", ...headers };
  const call = request({ host: "127.0.0.1", port, method: "POST", path: PATH, headers: all, agent: false });
  call.end(body);
  const [response] = (await once(call, "response")) as [import("node:http").IncomingMessage];
  response.resume();
  await once(response, "end");
  return response.statusCode ?? 0;
}

function headersOf(visit: Pick<Visit, "headers">): Record<string, string> {
  return Object.fromEntries(visit.headers);
}

/** The attempts of the last request in order, those on `own` among them. */
function attempts(): Visit[] {
  const own = upstreams.hops.splice(0).map((hop) => ({
    ...{ provider: "own", serverName: "", path: hop.path, headers: hop.headers },
    body: Buffer.from(hop.body, "latin1"),
  }));
  const number = (visit: Visit) => Number(headersOf(visit)["x-envoy-attempt-count"]);
  return [...providers.take(), ...own].sort((one, other) => number(one) - number(other));
}

function seesNothingOfOthers(visit: Visit): void {
  const text = JSON.stringify([visit.serverName, visit.path, visit.headers]);
  for (const [name, secrets] of Object.entries(SECRETS)) {
    if (name === visit.provider) continue;
    for (const secret of secrets) expect(text, `${visit.provider} sees what is for ${name}`).not.toContain(secret);
  }
}

function seesItsOwn(visit: Visit): void {
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

describe.each(versions.versions)("providers on Envoy %s", (version) => {
  it("each see their own and nothing of another, in every order, after 429 and after a reset", async () => {
    const routes = ORDERS.map((order) => ({
      ...ordered(order),
      match: { prefix: "/", headers: [{ name: "x-order", string_match: { exact: order.join("") } }] },
    }));
    await start(version, { routes });
    const body = randomBytes(200_000);
    for (const [index, order] of ORDERS.entries()) {
      const answers = ["429,reset,429,200", "reset,429,reset,429"][index % 2] ?? "";
      await post({ "x-order": order.join(""), [ANSWERS_HEADER]: answers }, body);
      const visits = attempts();
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
    await start(version, { routes: [target, ordered(["a", "b"], { internal_redirect_policy })] });
    await post({ [ANSWERS_HEADER]: "302", "x-location": "http://gateway.test/target?q=1" });
    const [first, redirected, ...others] = [...providers.take(), ...attempts()];
    expect(others).toEqual([]);
    expect(first?.path).toBe(PATHS["a"]);
    expect([redirected?.provider, redirected?.path]).toEqual(["own", "/target?q=1"]);
    if (redirected !== undefined) seesNothingOfOthers(redirected);
  });

  it("are not told of each other by a mirrored request", async () => {
    const request_mirror_policies = [{ cluster: "b" }, { cluster: "own" }];
    await start(version, { routes: [ordered(["a"], { request_mirror_policies })] });
    await post({});
    await waitFor("three requests", () => providers.visits.length === 2 && upstreams.hops.length === 1);
    for (const visit of attempts()) {
      seesNothingOfOthers(visit);
      expect([visit.provider, visit.path]).toEqual([visit.provider, PATHS[visit.provider]]);
    }
  });

  it("are not told of each other by a hedged request", async () => {
    const hedge_policy = { hedge_on_per_try_timeout: true };
    const hedged = { hedge_policy, retry_policy: { ...retry_policy, per_try_timeout: "0.6s", num_retries: 1 } };
    await start(version, { routes: [ordered(["a", "b"], hedged)] });
    await post({ [ANSWERS_HEADER]: "hang,200" });
    const visits = attempts();
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
    await start(version, { routes: [ordered([], override)], filters: [write] });
    await post({ [ANSWERS_HEADER]: "429,429,200" });
    const visits = attempts();
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
    await start(version, { routes }, [composite("list", "a", "own", "b"), composite("owns", "own", "own")]);
    await post({ "x-list": "1", [ANSWERS_HEADER]: "429,503,200" });
    const listed = attempts();
    await post({ [ANSWERS_HEADER]: "429" });
    const grouped = attempts();
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
    const c = tlsCluster("c", { typed_extension_protocol_options: { [OPTIONS]: { ...own, http_filters } } });
    await start(version, {
      routes: [ordered(["a", "c"])],
      router: { upstream_http_filters },
      clusters: [tlsCluster("a"), c],
    });
    expect(await post({ [ANSWERS_HEADER]: "429,200" })).toBe(200);
    const seen = attempts().map(headersOf);
    expect(seen.map((headers) => [headers["x-router"], headers["x-own"]])).toEqual([
      ["yes", undefined],
      ["yes", "key-of-c"],
    ]);
  });

  it("get no request where the certificate is another's", async () => {
    const a = tlsCluster("a", staticCluster("a", [providers.port("b")]));
    await start(version, { routes: [ordered(["a"])], clusters: [a] });
    expect(await post({})).toBe(503);
    expect(attempts()).toEqual([]);
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

function permutations(names: readonly string[]): string[][] {
  if (names.length === 0) return [[]];
  return names.flatMap((name) => permutations(names.filter((other) => other !== name)).map((rest) => [name, ...rest]));
}
