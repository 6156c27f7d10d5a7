import { existsSync, readFileSync } from "node:fs";
import { BinaryReader, BinaryWriter, WireType } from "@bufbuild/protobuf/wire";
import { afterEach, describe, expect, test } from "vitest";
import type { ConfigObject } from "../../cli/lowerer.js";
import { at, items } from "../../cli/serve/envoy-gateway/gateway-metadata.js";
import { without } from "../../cli/serve/envoy-gateway/native-route.js";
import { envoyVersions } from "../../tools/envoy/binary.js";
import { ANY_PORT } from "../../tools/envoy/process.js";
import { WASM } from "../support/lowering.js";
import { Serving } from "../support/serving.js";
import type { Upstreams } from "../support/upstreams.js";
import { decode, encode, ExtensionServer, recorded } from "./extension-server.js";

const { versions } = await envoyVersions();
const TRANSLATE = recorded("PostTranslateModify");
const open: { stop(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.stop();
});

async function start(native = false): Promise<ExtensionServer> {
  const server = await ExtensionServer.start(native);
  open.push(server);
  return server;
}

async function translated(server: ExtensionServer, request = TRANSLATE): Promise<ConfigObject> {
  return decode("PostTranslateModifyResponse", await server.hook("PostTranslateModify", request));
}

describe("PostRouteModify", () => {
  test.each([
    [0, "PriorityGroups", "chain"],
    [1, "PriorityGroupsFilter", "by-rule"],
  ])("keeps the wish in the metadata of the route: request %i", async (index, kind, name) => {
    const server = await start();
    const request = recorded(`PostRouteModify-${index}`);
    const { route } = decode("PostRouteModifyResponse", await server.hook("PostRouteModify", request));
    const given = at(decode("PostRouteModifyRequest", request), "route") as ConfigObject;
    const wish = at(route, "metadata", "filter_metadata", "attempt-router.dev") as ConfigObject;
    expect(wish).toMatchObject({ kind, name, namespace: "default", spec: { retry: { num_retries: 1 } } });
    delete (at(route, "metadata", "filter_metadata") as ConfigObject)["attempt-router.dev"];
    expect(route).toEqual(given);
  });

  test("passes a route without a wish on as it is", async () => {
    const server = await start();
    const { route } = decode("PostRouteModifyRequest", recorded("PostRouteModify-0")) as { route: ConfigObject };
    const response = await server.hook("PostRouteModify", encode("PostRouteModifyRequest", { route }));
    expect(decode("PostRouteModifyResponse", response)).toEqual({ route });
  });
});

describe("PostTranslateModify", () => {
  test("refuses the route whose wish is wrong, and says why; the others are served", async () => {
    const server = await start();
    const { routes } = await translated(server);
    const [refused, ...more] = allRoutes(routes).filter((route) => "direct_response" in route);
    expect(more).toEqual([]);
    expect(refused).toMatchObject({ match: { path_separated_prefix: "/bad" }, direct_response: { status: 500 } });
    const [said, ...others] = server.log.filter(({ event }) => event === "RouteRefused");
    expect(others).toEqual([]);
    expect(said).toMatchObject({ resource: "PriorityGroups default/broken", status: 500 });
    expect(said?.["reason"]).toMatch(/^backend default\/no-such: /);
    const metrics = await (await server.get("/metrics")).text();
    expect(metrics).toContain('attempt_router_routes{of="default/eg/http",state="served"} 2');
    expect(metrics).toContain('attempt_router_routes{of="default/eg/http",state="refused"} 1');
    expect(JSON.stringify(routes)).not.toContain("attempt-router.dev");
  });

  test("says the same once, and says when it is over", async () => {
    const server = await start();
    await translated(server);
    await translated(server);
    const events = (): string[] => server.log.slice(1).map(({ event }) => event);
    expect(events()).toEqual(["RouteRefused"]);
    const request = decode("PostTranslateModifyRequest", TRANSLATE);
    const host = items(at(items(request["routes"])[0], "virtual_hosts"))[0] as { routes: ConfigObject[] };
    host.routes = host.routes.filter((route) => at(route, "match", "path_separated_prefix") !== "/bad");
    await translated(server, encode("PostTranslateModifyRequest", request));
    expect(events()).toEqual(["RouteRefused", "AllRoutesServed"]);
  });

  test("refuses what the module finds wrong, by the path in the route", async () => {
    const server = await start();
    await translated(
      server,
      wishing((spec) => (spec["steps"] = [{ on: {}, next: "nowhere" }])),
    );
    const reasons = server.log.filter(({ event }) => event === "RouteRefused").map(({ reason }) => reason);
    expect(reasons).toHaveLength(2);
    expect(reasons).toContainEqual(expect.stringContaining("steps"));
  });

  test.each([
    ["a field that it does not have", (spec: ConfigObject) => (spec["grops"] = []), "spec.grops"],
    ["no groups", (spec: ConfigObject) => (spec["groups"] = []), "spec.groups"],
    ["a weight below zero", weight(-1), "spec.groups[0].backends[0].weight"],
    ["name and route", (s: ConfigObject) => (firstBackend(s)["route"] = "llm"), "spec.groups[0].backends[0]"],
    ["a retry policy that is none", (spec: ConfigObject) => (spec["retry"] = 3), "spec.retry"],
  ])("refuses %s", async (_, change, path) => {
    const server = await start();
    await translated(server, wishing(change));
    const reasons = server.log.filter(({ event }) => event === "RouteRefused").map(({ reason }) => String(reason));
    expect(reasons.filter((reason) => reason.startsWith(`${path}: `))).toHaveLength(1);
  });

  test("a backend of another namespace is none", async () => {
    const server = await start();
    const request = decode("PostTranslateModifyRequest", TRANSLATE);
    for (const cluster of items(request["clusters"])) {
      const [resource] = items(at(cluster, "metadata", "filter_metadata", "envoy-gateway", "resources"));
      (resource as ConfigObject)["namespace"] = "other";
    }
    await translated(server, encode("PostTranslateModifyRequest", request));
    const reasons = server.log.filter(({ event }) => event === "RouteRefused").map(({ reason }) => String(reason));
    expect(reasons.filter((reason) => reason.startsWith("backend default/provider-a: "))).toHaveLength(1);
  });

  test("an override may name the clusters of the groups only", async () => {
    const server = await start();
    const { routes } = await translated(
      server,
      wishing((spec) => (spec["override_metadata_namespace"] = "mine")),
    );
    const text = JSON.stringify(routes);
    expect(text).toContain('"override_metadata_namespace":"mine"');
    expect(text).not.toContain("attempt_router_module");
  });
});

describe("what is not known passes byte for byte", () => {
  test("messages of other types, and resources that do not change", async () => {
    const server = await start();
    const response = await server.hook("PostTranslateModify", TRANSLATE);
    const clusters = fieldsOf(TRANSLATE, 2);
    expect(clusters.length).toBeGreaterThan(1);
    for (const cluster of clusters) expect(response.includes(cluster)).toBe(true);
    const given = decode("PostTranslateModifyRequest", TRANSLATE);
    const log = at(items(given["listeners"])[1], "access_log") as ConfigObject[];
    const opaque = Buffer.from(at(log[0], "typed_config", "value") as string, "base64");
    expect(TRANSLATE.includes(opaque)).toBe(true);
    expect(response.includes(opaque)).toBe(true);
  });

  test("fields that are newer than the descriptors, in a route that changes", async () => {
    const server = await start();
    const unknown = new BinaryWriter().tag(4000, WireType.LengthDelimited).string("from the future").finish();
    const request = decode("PostTranslateModifyRequest", TRANSLATE);
    for (const route of allRoutes(request["routes"])) {
      route["attempt_router_unknown_fields"] = Buffer.from(unknown).toString("base64");
    }
    const count = allRoutes(request["routes"]).length;
    const response = await server.hook("PostTranslateModify", encode("PostTranslateModifyRequest", request));
    expect(response.toString("latin1").split("from the future").length - 1).toBeGreaterThanOrEqual(count);
  });

  test("a request that cannot be read comes back as it is, and is no error", async () => {
    const server = await start();
    const broken = new BinaryWriter()
      .tag(2, WireType.LengthDelimited)
      .bytes(Buffer.from([0x0a, 0x7f]))
      .finish();
    const same = new BinaryWriter()
      .tag(1, WireType.LengthDelimited)
      .bytes(Buffer.from([0x0a, 0x7f]))
      .finish();
    expect(await server.hook("PostTranslateModify", Buffer.from(broken))).toEqual(Buffer.from(same));
    expect(server.log.at(-1)).toMatchObject({ event: "HookFailed", hook: "PostTranslateModify" });
    expect(await (await server.get("/metrics")).text()).toContain(
      'attempt_router_hook_calls_total{hook="PostTranslateModify",outcome="failed"} 1',
    );
  });
});

describe("the server", () => {
  test("serves the module, its health and its readiness, and removes the socket at the end", async () => {
    const server = await ExtensionServer.start();
    const module = Buffer.from(await (await server.get("/attempt-router.wasm")).arrayBuffer());
    expect(module.equals(readFileSync(WASM))).toBe(true);
    expect((await server.get("/readyz")).status).toBe(200);
    expect((await server.get("/nothing")).status).toBe(404);
    expect(await server.call("/grpc.health.v1.Health/Check", Buffer.alloc(0))).toEqual(Buffer.from([8, 1]));
    const socket = server.running.grpc.slice("unix:".length);
    expect(existsSync(socket)).toBe(true);
    await server.running.stop();
    expect(existsSync(socket)).toBe(false);
  });
});

describe.each(versions)("Envoy %s", (version) => {
  test("serves policy and filter form, beside a route that is refused and one without a wish", async () => {
    const server = await start();
    const resources = await translated(server);
    expect(await outcomes(version, resources, server)).toEqual({
      "/policy": [200, ["a", "b"]],
      "/filter": [200, ["a", "b"]],
      "/bad": [500, []],
      "/plain": [503, ["a"]],
    });
  });
});

test("with --native, Envoy 1.40 serves its own specifier", async () => {
  const server = await start(true);
  const resources = await translated(server);
  expect(JSON.stringify(resources)).not.toContain("wasm");
  expect(await outcomes("1.40.0", resources, server)).toMatchObject({
    "/policy": [200, ["a", "b"]],
    "/filter": [200, ["a", "b"]],
    "/bad": [500, []],
  });
});

async function outcomes(version: string, resources: ConfigObject, server: ExtensionServer) {
  const serving = await Serving.start(version, { a: 503, b: 200 }, (upstreams) =>
    bootstrap(resources, upstreams, server),
  );
  open.push(serving);
  const found: Record<string, [number | null, string[]]> = {};
  for (const path of ["/policy", "/filter", "/bad", "/plain"]) {
    const { response, hops } = await serving.get(path);
    found[path] = [response.status, hops];
  }
  return found;
}

/** The resources as one file: endpoints come from the test, and what only Envoy Gateway's log needs is left out. */
function bootstrap(resources: ConfigObject, upstreams: Upstreams, server: ExtensionServer): string {
  const [route] = items(resources["routes"]);
  const listener = items(resources["listeners"]).find((one) => at(one, "name") === "default/eg/http") as ConfigObject;
  const [filter] = items(at(listener, "default_filter_chain", "filters"));
  const manager = without(at(filter, "typed_config") as ConfigObject, "rds", "access_log");
  const typed_config = { ...manager, route_config: route ?? null };
  const filters = [{ ...(filter as ConfigObject), typed_config }];
  const clusters = items(resources["clusters"]).map((cluster) => {
    const name = at(cluster, "name") as string;
    const provider = /provider-(.)/.exec(name)?.[1];
    const port = provider === undefined ? server.running.httpPort : upstreams.port(provider);
    const address = { socket_address: { address: "127.0.0.1", port_value: port } };
    const endpoints = [{ lb_endpoints: [{ endpoint: { address } }] }];
    return { name, connect_timeout: "5s", type: "STATIC", load_assignment: { cluster_name: name, endpoints } };
  });
  const ingress = { name: "ingress", address: ANY_PORT, filter_chains: [{ filters }] };
  return JSON.stringify({ admin: { address: ANY_PORT }, static_resources: { listeners: [ingress], clusters } });
}

/** The bytes of each item of a field. */
function fieldsOf(message: Buffer, wanted: number): Buffer[] {
  const found: Buffer[] = [];
  const reader = new BinaryReader(message);
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    if (number === wanted) found.push(Buffer.from(reader.bytes()));
    else reader.skip(wireType, number);
  }
  return found;
}

/** The recorded request with another spec of the policy. */
function wishing(change: (spec: ConfigObject) => unknown): Buffer {
  const request = decode("PostTranslateModifyRequest", TRANSLATE);
  for (const route of allRoutes(request["routes"])) {
    const wish = at(route, "metadata", "filter_metadata", "attempt-router.dev");
    if (at(wish, "name") === "chain") change(at(wish, "spec") as ConfigObject);
  }
  // Objects that were changed are no longer what their bytes say, so they are read anew.
  return encode("PostTranslateModifyRequest", JSON.parse(JSON.stringify(request)) as ConfigObject);
}

function weight(value: number) {
  return (spec: ConfigObject): unknown => (firstBackend(spec)["weight"] = value);
}

function firstBackend(spec: ConfigObject): ConfigObject {
  return items(at(items(spec["groups"])[0], "backends"))[0] as ConfigObject;
}

function allRoutes(routes: unknown): ConfigObject[] {
  return (routes as ConfigObject[]).flatMap((one) =>
    items(one["virtual_hosts"]).flatMap((host) => items(at(host, "routes")) as ConfigObject[]),
  );
}
