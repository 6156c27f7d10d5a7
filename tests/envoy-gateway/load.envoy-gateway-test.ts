import { afterEach, expect, test } from "vitest";
import { envoyVersions } from "../../tools/envoy/binary.js";
import { waitFor } from "../../tools/wait.js";
import { Upstreams } from "../support/upstreams.js";
import { GatewayClient, type Outcome } from "./client.js";
import { EnvoyGateway, type Manifest } from "./envoy-gateway.js";
import { backends, extensionManager, gateway, httpRoute, policy, rule } from "./resources.js";
import { ServeProcess } from "./serve-process.js";

const { oracle, versions } = await envoyVersions();
const open: { stop(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.stop();
});

async function start(upstreams: Upstreams, resources: Manifest[]): Promise<[EnvoyGateway, ServeProcess]> {
  open.push({ stop: () => upstreams.close() });
  const server = await ServeProcess.start();
  open.push(server);
  const eg = await EnvoyGateway.start(() => resources, extensionManager(server));
  open.push(eg);
  return [eg, server];
}

const UPDATES = 10;
const WORKERS = 2;

test.each(versions)("updates under load lose no request, with Envoy %s", async (version) => {
  const upstreams = await Upstreams.start({ down: 503, a: 200, b: 200 });
  const resources = (last: string): Manifest[] => [
    ...gateway(version),
    ...backends({ down: upstreams.port("down"), a: upstreams.port("a"), b: upstreams.port("b") }),
    httpRoute("llm", [rule("all", "/", "down", "a", "b")]),
    policy("groups", "llm", "all", ["down"], [last]),
  ];
  const [eg] = await start(upstreams, resources("a"));
  const client = new GatewayClient(upstreams);
  await client.until("/", 200, "down", "a");
  let isOver = false;
  const load = Array.from({ length: WORKERS }, async () => {
    const served: Outcome[] = [];
    while (!isOver) served.push(await client.get("/"));
    return served;
  });
  try {
    for (let i = 0; i < UPDATES; i++) {
      const last = i % 2 === 0 ? "b" : "a";
      await eg.apply(resources(last));
      await client.until("/", 200, "down", last);
    }
  } finally {
    isOver = true;
  }
  const served = (await Promise.all(load)).flat();
  expect(new Set(served.map((outcome) => outcome.join(" ")))).toEqual(new Set(["200 down a", "200 down b"]));
  console.log(`Envoy ${version}: ${served.length} requests under ${UPDATES} updates of the policy`);
});

const ROUTES = 300;
/** As many as an HTTPRoute may have. */
const RULES = 16;
const HOOK_SECONDS = 10;

test(`${ROUTES} routes with priority groups: the time of the hooks`, async () => {
  const upstreams = await Upstreams.start({ down: 503, up: 200 });
  const rules = Array.from({ length: ROUTES }, (_, i) => rule(`r${i}`, `/${i}`, "down", "up"));
  const routes = Array.from({ length: Math.ceil(ROUTES / RULES) }, (_, i) => {
    const own = rules.slice(i * RULES, (i + 1) * RULES);
    return [httpRoute(`route-${i}`, own), policy(`groups-${i}`, `route-${i}`, undefined, ["down"], ["up"])];
  });
  const ports = { down: upstreams.port("down"), up: upstreams.port("up") };
  const [, server] = await start(upstreams, [...gateway(oracle), ...backends(ports), ...routes.flat()]);
  const client = new GatewayClient(upstreams);
  await client.until(`/${ROUTES - 1}`, 200, "down", "up");
  const served = 'attempt_router_routes{of="default/eg/http",state="served"}';
  await waitFor("all routes", async () => (await server.metric(served)) === ROUTES);
  const times = await Promise.all(
    ["PostRouteModify", "PostTranslateModify"].map((hook) => perTranslation(server, hook)),
  );
  console.log(`${ROUTES} routes: ${times.map((seconds) => `${seconds.toFixed(2)} s`).join(" and ")} for a translation`);
  for (const seconds of times) expect(seconds).toBeLessThan(HOOK_SECONDS);
});

async function perTranslation(server: ServeProcess, hook: string): Promise<number> {
  const seconds = await server.metric(`attempt_router_hook_seconds_total{hook="${hook}"}`);
  return seconds / (await server.metric('attempt_router_hook_calls_total{hook="PostTranslateModify",outcome="ok"}'));
}
