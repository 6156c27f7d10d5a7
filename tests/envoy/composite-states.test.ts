import { fileURLToPath } from "node:url";
import { afterEach, describe, expect, test } from "vitest";
import { lower } from "../../cli/lower.js";
import { envoyVersions } from "../../tools/envoy/binary.js";
import { awaitRound } from "../support/availability.js";
import { assignment, staticCluster } from "../support/clusters.js";
import { bootstrapOf, compositeOf, routeTo } from "../support/composite-bootstrap.js";
import { WASM } from "../support/lowering.js";
import { Serving } from "../support/serving.js";
import type { Upstreams } from "../support/upstreams.js";

type Json = Record<string, unknown>;
type Health = "HEALTHY" | "UNHEALTHY" | "DEGRADED" | "DRAINING";

interface State {
  name: string;
  hosts: Health[];
  /** Fields of the cluster. */
  lb?: Json;
  /** Which cluster serves natively and while the probe asks, the first or the second; and with aggregates. */
  native: "a" | "b";
  aggregate: "a" | "b";
}

const DEBUG_MODULE = fileURLToPath(new URL("../../build/debug.wasm", import.meta.url));
const OFF = { common_lb_config: { healthy_panic_threshold: { value: 0 } } };
const FAILING = { common_lb_config: { zone_aware_lb_config: { fail_traffic_on_panic: true } } };

/** Where the two differ, docs/differences.md says so. */
const STATES: State[] = [
  { name: "empty", hosts: [], native: "b", aggregate: "b" },
  { name: "healthy", hosts: ["HEALTHY"], native: "a", aggregate: "a" },
  { name: "one-of-3", hosts: ["HEALTHY", ...many(2, "UNHEALTHY")], native: "a", aggregate: "a" },
  { name: "one-of-3-no-panic", hosts: ["HEALTHY", ...many(2, "UNHEALTHY")], lb: OFF, native: "a", aggregate: "a" },
  { name: "one-of-10", hosts: ["HEALTHY", ...many(9, "UNHEALTHY")], native: "a", aggregate: "a" },
  { name: "one-of-10-no-panic", hosts: ["HEALTHY", ...many(9, "UNHEALTHY")], lb: OFF, native: "a", aggregate: "a" },
  { name: "unhealthy-no-panic", hosts: many(2, "UNHEALTHY"), lb: OFF, native: "b", aggregate: "b" },
  { name: "unhealthy", hosts: many(2, "UNHEALTHY"), native: "a", aggregate: "b" },
  { name: "unhealthy-failing", hosts: many(2, "UNHEALTHY"), lb: FAILING, native: "b", aggregate: "b" },
  { name: "degraded", hosts: many(2, "DEGRADED"), native: "a", aggregate: "b" },
  { name: "draining", hosts: many(2, "DRAINING"), native: "a", aggregate: "b" },
  { name: "draining-no-panic", hosts: many(2, "DRAINING"), lb: OFF, native: "b", aggregate: "b" },
];
const NATIVE = Object.fromEntries(STATES.map(({ name, native }) => [name, native]));
const AGGREGATE = Object.fromEntries(STATES.map(({ name, aggregate }) => [name, aggregate]));
const REQUESTS = 12;
const HOSTS = Array.from({ length: 10 }, (_, index) => `a${index}`);
const SPECS = Object.fromEntries([...HOSTS, "b"].map((name) => [name, 200]));

const { oracle, versions } = await envoyVersions();
let serving: Serving | undefined;

afterEach(async () => {
  await serving?.stop();
  serving = undefined;
});

test("a composite cluster in every state of its first cluster, natively", async () => {
  serving = await Serving.start(oracle, SPECS, (upstreams) => native(upstreams, {}));
  expect(await outcomes()).toEqual(NATIVE);
});

describe.each(versions)("Envoy %s: a composite cluster in every state of its first cluster", (version) => {
  test("on aggregates", async () => {
    serving = await Serving.start(version, SPECS, (upstreams) =>
      lowered(native(upstreams, { availability: "AGGREGATE" })),
    );
    expect(await outcomes()).toEqual(AGGREGATE);
  });

  test("probed", async () => {
    serving = await Serving.start(version, SPECS, (upstreams) => lowered(native(upstreams, { availability: "PROBE" })));
    await awaitRound(serving.envoy.admin);
    expect(await outcomes()).toEqual(NATIVE);
  });

  test("probed, as long as nothing is known: on aggregates", async () => {
    const settings = { availability: "PROBE", availability_interval_ms: 60_000 };
    serving = await Serving.start(version, SPECS, (upstreams) => lowered(native(upstreams, settings)));
    expect(await outcomes()).toEqual(AGGREGATE);
  });

  test("probed, while routes disable the module: on aggregates", async () => {
    const disabled = { "@type": "type.googleapis.com/envoy.config.route.v3.FilterConfig", disabled: true };
    const more = { typed_per_filter_config: { attempt_router: disabled } };
    serving = await Serving.start(version, SPECS, (upstreams) =>
      lowered(native(upstreams, { availability: "PROBE" }, more)),
    );
    await awaitRound(serving.envoy.admin);
    expect(await outcomes()).toEqual(AGGREGATE);
  });

  test("probed, once the module has trapped: on aggregates", async () => {
    serving = await Serving.start(version, SPECS, (upstreams) =>
      lowered(native(upstreams, { availability: "PROBE" }), DEBUG_MODULE),
    );
    await awaitRound(serving.envoy.admin);
    expect(await outcomes()).toEqual(NATIVE);
    const { response } = await serving.get("/healthy/", { "x-attempt-router-trap": "yes" });
    expect(response.status).toBe(503);
    expect(await outcomes()).toEqual(AGGREGATE);
  });
});

function many(count: number, health: Health): Health[] {
  return Array.from({ length: count }, () => health);
}

function lowered(text: string, wasm = WASM): string {
  return lower(text, { file: "native.yaml", wasm }).text;
}

function native(upstreams: Upstreams, settings: Json, more: Json = {}): string {
  const routes = STATES.map(({ name }) => routeTo(`${name}-tiers`, `/${name}/`, settings, more));
  const clusters = STATES.flatMap((state) => [
    compositeOf(`${state.name}-tiers`, [state.name, "b"]),
    member(state, upstreams),
  ]);
  return bootstrapOf(routes, [...clusters, staticCluster("b", [upstreams.port("b")])]);
}

function member({ name, hosts, lb = {} }: State, upstreams: Upstreams): Json {
  const ports = hosts.map((_, index) => upstreams.port(`a${index}`));
  const load_assignment = assignment(name, ports);
  const [locality] = load_assignment["endpoints"] as { lb_endpoints: Json[] }[];
  locality?.lb_endpoints.forEach((endpoint, index) => Object.assign(endpoint, { health_status: hosts[index] }));
  return { ...staticCluster(name, ports), ...lb, load_assignment };
}

/** By state, the clusters that served the requests. */
async function outcomes(): Promise<Record<string, string>> {
  const all: Record<string, string> = {};
  for (const { name } of STATES) {
    const seen = new Set<string>();
    for (let i = 0; i < REQUESTS; i++) {
      const { hops = [] } = (await serving?.get(`/${name}/`)) ?? {};
      seen.add(hops.map((hop) => hop.slice(0, 1)).join("") || "none");
    }
    all[name] = [...seen].sort().join(" or ");
  }
  return all;
}
