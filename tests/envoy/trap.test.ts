import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { lower, type FailurePolicy } from "../../cli/lower.js";
import versions from "../../tools/envoy/versions.json" with { type: "json" };
import { nativeBootstrap } from "../support/bootstrap.js";
import type { Case, Config } from "../support/case.js";
import { group, priorityGroups } from "../support/config.js";
import { Serving } from "../support/serving.js";
import { waitFor } from "../../tools/wait.js";
import type { Upstreams } from "../support/upstreams.js";

const DEBUG_MODULE = fileURLToPath(new URL("../../build/debug.wasm", import.meta.url));
const HEARTBEATS = "wasmcustom.attempt_router.heartbeats";
const FAILING = { a: 503, b: 503, c: 503, d: 503 };

// A weighted pair in each group: the static chain is the first of each.
const GROUPS = [group("a", "b"), group("c", "d")];
const STATIC_CHAIN = ["a", "c"];
const PICKED = ["b", "d"];
const PICK_SECOND = { "x-pick": "1" };

// An earlier filter: one filter of the module serves all routes then.
const EARLIER = {
  name: "envoy.filters.http.header_mutation",
  typed_config: {
    "@type": "type.googleapis.com/envoy.extensions.filters.http.header_mutation.v3.HeaderMutation",
    mutations: {},
  },
};

function bootstrap(upstreams: Upstreams, policy: FailurePolicy, route: Config, http_filters: Config[]): string {
  const retry_policy = { retry_on: "5xx", num_retries: 1, refresh_cluster_on_retry: true };
  const action = { ...priorityGroups(GROUPS, { header_name: "x-pick" }), retry_policy };
  const virtualHost = { name: "vh", domains: ["*"], routes: [{ match: { prefix: "/" }, route: action, ...route }] };
  const test = {
    listeners: [{ name: "ingress", http_filters, route_config: { virtual_hosts: [virtualHost] } }],
  } as unknown as Case;
  const native = nativeBootstrap(test, upstreams);
  return lower(native, { file: "trap.yaml", wasm: DEBUG_MODULE, failurePolicy: policy }).text;
}

async function withEnvoy(
  version: string,
  policy: FailurePolicy,
  run: (serving: Serving) => Promise<void>,
  route: Config = {},
  http_filters: Config[] = [],
): Promise<void> {
  const serving = await Serving.start(version, FAILING, (upstreams) =>
    bootstrap(upstreams, policy, route, http_filters),
  );
  try {
    await run(serving);
  } finally {
    await serving.stop();
  }
}

async function trap(serving: Serving): Promise<void> {
  expect((await serving.get("/", PICK_SECOND)).hops).toEqual(PICKED);
  const trapped = await serving.get("/", { ...PICK_SECOND, "x-attempt-router-trap": "yes" });
  expect(trapped.response.status).toBe(503);
  expect(trapped.hops).toEqual([]);
}

describe.each(versions.versions)("the module on Envoy %s", (version) => {
  it("when it trapped under FAIL_OPEN, leaves the static chain working, attempt by attempt", async () => {
    await withEnvoy(version, "FAIL_OPEN", async (serving) => {
      await trap(serving);
      for (let i = 0; i < 5; i++) expect((await serving.get("/", PICK_SECOND)).hops).toEqual(STATIC_CHAIN);
    });
  });

  it("when it trapped under FAIL_CLOSED, fails every later request", async () => {
    await withEnvoy(version, "FAIL_CLOSED", async (serving) => {
      await trap(serving);
      const { response, hops } = await serving.get("/", PICK_SECOND);
      expect(response.status).toBe(503);
      expect(hops).toEqual([]);
    });
  });

  it.each([
    { form: "a filter for each chain", filters: [] },
    { form: "one filter for all routes", filters: [EARLIER] },
  ])("when it trapped under FAIL_RELOAD, picks again once it is loaded anew ($form)", async ({ filters }) => {
    const run = async (serving: Serving): Promise<void> => {
      await trap(serving);
      const again = await waitFor("a request that the module plans", async () => {
        const { response, hops } = await serving.get("/", PICK_SECOND);
        return hops.length > 0 && { served: response.headers["x-served-by"], hops };
      });
      expect(again).toEqual({ served: "d", hops: PICKED });
    };
    await withEnvoy(version, "FAIL_RELOAD", run, {}, filters);
  });

  it.each([
    { form: "a filter for each chain", filters: [] },
    { form: "one filter for all routes", filters: [EARLIER] },
  ])("when it trapped, has fewer heartbeats than one that lives ($form)", async ({ filters }) => {
    const beats = async ({ envoy }: Serving): Promise<number> => envoy.admin.stat(HEARTBEATS);
    const run = async (well: Serving, trapped: Serving): Promise<void> => {
      for (const { envoy } of [well, trapped]) await envoy.admin.waitForStat(HEARTBEATS, (count) => count >= 4);
      await trap(trapped);
      const before = [await beats(well), await beats(trapped)] as const;
      await well.envoy.admin.waitForStat(HEARTBEATS, (count) => count >= before[0] + 12, 30_000);
      // One virtual machine on the worker, and one on the main thread, which serves no request.
      const more = (await beats(trapped)) - before[1];
      expect([more >= 4, more <= 8]).toEqual([true, true]);
    };
    await withEnvoy(
      version,
      "FAIL_OPEN",
      (well) => withEnvoy(version, "FAIL_OPEN", (trapped) => run(well, trapped), {}, filters),
      {},
      filters,
    );
  });

  it("when a route disables it, leaves the static chain working", async () => {
    const disabled = { "@type": "type.googleapis.com/envoy.config.route.v3.FilterConfig", disabled: true };
    const route = { typed_per_filter_config: { attempt_router: disabled } };
    await withEnvoy(
      version,
      "FAIL_OPEN",
      async (serving) => expect((await serving.get("/", PICK_SECOND)).hops).toEqual(STATIC_CHAIN),
      route,
    );
  });
});
