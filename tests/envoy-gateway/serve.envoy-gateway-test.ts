import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { envoyVersions } from "../../tools/envoy/binary.js";
import { Upstreams } from "../support/upstreams.js";
import { GatewayClient } from "./client.js";
import { EnvoyGateway, type Manifest } from "./envoy-gateway.js";
import { backendRef, backends, documented, extensionManager, gateway, httpRoute, policy, rule } from "./resources.js";
import { ServeProcess } from "./serve-process.js";

const { versions } = await envoyVersions();

describe.each(versions)("the documented setup, with Envoy %s", (version) => {
  let upstreams: Upstreams;
  let server: ServeProcess;
  let eg: EnvoyGateway;
  let client: GatewayClient;

  beforeAll(async () => {
    upstreams = await Upstreams.start({ limited: 429, down: 503, up: 200 });
    client = new GatewayClient(upstreams);
    server = await ServeProcess.start();
    eg = await EnvoyGateway.start(() => resources("limited", "up"), extensionManager(server));
    await client.until("/v1/messages", 200, "limited", "up");
  });

  afterAll(async () => {
    await eg.stop();
    await server.stop();
    await upstreams.close();
  });

  test("a policy: the weighted first group, then the last one", async () => {
    // Without the module, each request would go to provider-a first.
    expect(await client.outcomes("/v1/messages")).toEqual(new Set(["200 limited up", "200 up"]));
  });

  test("a filter of a rule", async () => {
    await eg.apply(resources("up", "down"));
    await client.until("/v1/embeddings", 200, "down", "up");
  });

  test("a policy that is wrong: its route answers 500 and the log says why, the others go on", async () => {
    expect(await client.get("/bad")).toEqual([500]);
    expect(await client.get("/plain")).toEqual([200, "up"]);
    expect(server.log).toContainEqual(
      expect.objectContaining({
        event: "RouteRefused",
        resource: "PriorityGroups default/wrong",
        reason: expect.stringMatching(/^backend default\/no-such: /) as string,
      }),
    );
    expect(await server.metric('attempt_router_routes{of="default/eg/http",state="refused"}')).toBe(1);
  });

  test("a server that is killed: the proxies go on, and what changed meanwhile comes with the next server", async () => {
    await server.end("SIGKILL");
    await eg.apply(resources("up", "down", ["provider-b"], ["provider-a"]));
    expect(await client.get("/v1/embeddings")).toEqual([200, "down", "up"]);
    expect(await client.get("/bad")).toEqual([500]);
    await server.start();
    await client.until("/bad", 200, "down", "up");
  });

  test("a server that is stopped ends by itself", async () => {
    expect(await server.end("SIGTERM")).toBe(0);
    expect(await client.get("/v1/embeddings")).toEqual([200, "down", "up"]);
    await server.start();
  });

  /** The example of the docs with these upstreams, and a route with a policy of these groups and a rule without one. */
  function resources(providerA: string, providerB: string, ...groups: string[][]): Manifest[] {
    const ports = { "provider-a": upstreams.port(providerA), "provider-b": upstreams.port(providerB) };
    const wished = groups.length > 0 ? groups : [["provider-a"], ["no-such"]];
    return [
      ...gateway(version),
      ...backends(ports),
      ...example(),
      httpRoute("more", [rule("bad", "/bad", "provider-a", "provider-b"), rule("plain", "/plain", "provider-a")]),
      policy("wrong", "more", "bad", ...wished),
    ];
  }
});

/** The routes and policies of the docs' example; its Services are Backends here, which need no Kubernetes. */
function example(): Manifest[] {
  const text = JSON.stringify(documented("envoy-gateway/example.yaml").filter(({ kind }) => kind !== "EnvoyProxy"));
  return JSON.parse(text, (key, value: unknown) =>
    key === "backendRefs" ? (value as { name: string }[]).map(({ name }) => backendRef(name)) : value,
  ) as Manifest[];
}
