// One request for every capability, with what the module must write for it.

import { isDeepStrictEqual } from "node:util";
import { create, toBinary, type JsonObject } from "@bufbuild/protobuf";
import { encodeMetadata, namespaceMetadata } from "../cli/host/index.js";
import { PriorityGroupsOverrideSchema } from "../cli/proto/envoy/extensions/router/cluster_specifiers/priority_group/v3/priority_group_pb.js";
import { StubProxy, type Answers } from "./stub-proxy.js";

export interface DecisionRow {
  name: string;
  /** Configuration of the plugin; default: it serves all routes. */
  configuration?: Uint8Array;
  /** Default: downstream, called once for a request; upstream, once for an attempt. */
  role?: "upstream";
  answers: Answers;
  /** What a request writes: filter state, and headers of the request, by key; default nothing. */
  writes?: Readonly<Record<string, string>>;
  /** A static chain, and nothing unusual about the request. */
  isHappyPath?: boolean;
  /** Objects that the module allocates for the request; default none. */
  allocations?: number;
}

/** A request that the module leaves alone; its cost is taken off that of the others. */
export const WITHOUT_SETTINGS: Answers = { properties: { "xds.route_name": "plain" } };

const NAMESPACE = "attempt_router";
const OVERRIDE = "override";
const SLOT_1 = "attempt_router.1";
const SLOT_2 = "attempt_router.2";
const PICK_SECOND = { "x-pick": "1" };
const HASHED = { "x-key": "f", ":path": "/?q=1", cookie: "c=2" };

export function decisionRows(): DecisionRow[] {
  return [...staticChains(), ...otherSlotForms(), ...overrides(), ...composites(), ...specifiers()];
}

/**
 * A module in steady state on the requests of a row.
 *
 * @throws Error when it does not write what it must
 */
export function inSteadyState(module: WebAssembly.Module, row: DecisionRow): StubProxy {
  const proxy = new StubProxy(module, row.configuration, row.role);
  proxy.answer(row.answers);
  proxy.request();
  proxy.tick();
  proxy.isRecording = true;
  proxy.request();
  proxy.isRecording = false;
  const written = Object.fromEntries(proxy.written);
  if (isDeepStrictEqual(written, row.writes ?? {})) return proxy;
  throw new Error(`${row.name}: the module wrote ${JSON.stringify(written)}`);
}

/** Managed objects that an instrumented module allocates for a request, and their bytes, on average. */
export function countAllocations(proxy: StubProxy, requests = 200): { objects: number; bytes: number } {
  proxy.allocated();
  const total = { objects: 0, bytes: 0 };
  for (let i = 0; i < requests; i++) {
    proxy.request();
    const { objects, bytes } = proxy.allocated();
    total.objects += objects;
    total.bytes += bytes;
  }
  return { objects: total.objects / requests, bytes: total.bytes / requests };
}

function staticChains(): DecisionRow[] {
  const single = chain(1);
  const weighted = chain(2, { header_name: "x-pick" });
  // A request without the header has an internal value; equal names make any pick the default, or none of them.
  const internal = (second: string) => settingsOf([group("g1", "a", second), group("g2", "b"), group("g3", "c")]);
  const hashed = chain(2, { use_hash_policy: true });
  const policies = [
    { header: { header_name: "x-key" } },
    { cookie: { name: "c" } },
    { query_parameter: { name: "q" } },
  ];
  const rows: DecisionRow[] = [
    { name: "single clusters", answers: onRoute(1, single) },
    { name: "weighted, internal value, default", answers: onRoute(2, internal("a")) },
    { name: "weighted, header, default", answers: onRoute(3, weighted, { headers: { "x-pick": "0" } }) },
    {
      name: "weighted, header, other",
      answers: onRoute(3, weighted, { headers: PICK_SECOND }),
      writes: { [SLOT_1]: "a2" },
    },
    { name: "own filter, single clusters", configuration: ownFilter(single), answers: {} },
    { name: "own filter, weighted, internal value, default", configuration: ownFilter(internal("a")), answers: {} },
    {
      name: "own filter, weighted, header, other",
      configuration: ownFilter(weighted),
      answers: { headers: PICK_SECOND },
      writes: { [SLOT_1]: "a2" },
    },
  ];
  return [
    ...rows.map((row) => ({ ...row, isHappyPath: true })),
    {
      name: "weighted, client's attempt count",
      answers: onRoute(3, weighted, { headers: { "x-pick": "0", "x-envoy-attempt-count": "2" } }),
    },
    {
      name: "weighted, three hash policies",
      answers: onRoute(4, { ...hashed, hash_policy: policies }, { headers: HASHED }),
      writes: { [SLOT_1]: "a2" },
    },
  ];
}

function otherSlotForms(): DecisionRow[] {
  const settings = (slot_form: string) => ({ ...chain(2, { header_name: "x-pick" }), slot_form });
  const attempt = { properties: { "upstream.request_attempt_count": Uint8Array.of(1, 0, 0, 0, 0, 0, 0, 0) } };
  const oneSlot = settings("ONE_SLOT");
  return [
    {
      name: "one slot, downstream role",
      answers: onRoute(5, oneSlot, { headers: PICK_SECOND }),
      writes: { "attempt_router.cluster": "a2", "attempt_router.random": "\u0001\0\0\0\0\0\0\0" },
    },
    {
      name: "one slot, upstream role",
      role: "upstream",
      answers: onRoute(5, oneSlot, attempt),
      writes: { "attempt_router.cluster": "b" },
    },
    {
      name: "slots as headers",
      answers: onRoute(6, settings("HEADERS"), { headers: PICK_SECOND }),
      writes: {
        "x-attempt-router-cluster-1": "a2",
        "x-attempt-router-cluster-2": "b",
        "x-attempt-router-cluster-3": "c",
        "x-attempt-router-first": "0",
      },
    },
  ];
}

function overrides(): DecisionRow[] {
  const settings = chain(1, { override_metadata_namespace: OVERRIDE });
  const withMetadata = (metadata: Uint8Array) => onRoute(10, settings, { properties: { metadata } });
  const untyped = (...groups: JsonObject[]) => withMetadata(namespaceMetadata(OVERRIDE, { priority_groups: groups }));
  const moved = { [SLOT_1]: "b", [SLOT_2]: "c" };
  return [
    { name: "override allowed, none sent", answers: withMetadata(new Uint8Array(0)) },
    {
      name: "override, one name",
      answers: untyped({ name: "g2" }),
      writes: { [SLOT_1]: "b", "attempt_router.3": "b" },
    },
    { name: "override, three names", answers: untyped({ name: "g2" }, { name: "g3" }, { name: "g3" }), writes: moved },
    {
      name: "override, three groups with clusters",
      answers: untyped(group("x", "b"), group("y", "c", "c"), group("z", "c")),
      writes: moved,
    },
    { name: "override, typed, three groups with clusters", answers: withMetadata(typedOverride()), writes: moved },
    {
      name: "override, three names beside 10 KB",
      answers: withMetadata(
        encodeMetadata({
          filter_metadata: {
            other: { text: "x".repeat(10_240) },
            [OVERRIDE]: { priority_groups: [{ name: "g2" }, { name: "g3" }, { name: "g3" }] },
          },
        }),
      ),
      writes: moved,
    },
  ];
}

function typedOverride(): Uint8Array {
  const clusters = (...names: string[]) => names.map((clusterName) => ({ clusterName, weight: 1 }));
  const message = create(PriorityGroupsOverrideSchema, {
    priorityGroups: [
      { name: "x", clusters: clusters("b") },
      { name: "y", clusters: clusters("c", "c") },
      { name: "z", clusters: clusters("c") },
    ],
  });
  const value = toBinary(PriorityGroupsOverrideSchema, message);
  const typeUrl = `type.googleapis.com/${PriorityGroupsOverrideSchema.typeName}`;
  return encodeMetadata({ typed_filter_metadata: { [OVERRIDE]: { typeUrl, value } } });
}

function composites(): DecisionRow[] {
  const composite_clusters = [{ name: "all", clusters: ["a", "b", "c"].map((name) => ({ name })) }];
  return [
    {
      name: "composite cluster, three clusters with hosts",
      configuration: namespaceMetadata(NAMESPACE, { composite_clusters }),
      answers: onRoute(20, { cluster: "all", composite_clusters, slots: 4 }),
    },
  ];
}

function specifiers(): DecisionRow[] {
  const override = (fields: JsonObject) => specifier("RouteOverride", fields);
  const held = { methods: ["GET"] };
  const failed = { headers: [{ name: "x-absent", present_match: true }] };
  const ten = (when: JsonObject) => Array.from({ length: 10 }, () => override({ when, timeout: "5s" }));
  const timeout = { "x-envoy-upstream-rq-timeout-ms": "5000" };
  const pinned = (suffix = "") => ({ "attempt_router.route": `given${suffix}` });
  const template = specifier("RouteTemplate", {
    template_id: "t",
    templates: [{ template_id: "t", route: { name: "t", pin: "other" } }],
  });
  return [
    {
      name: "RouteOverride of the time-out",
      answers: specified(30, override({ timeout: "5s" })),
      writes: { ...timeout, ...pinned() },
    },
    {
      name: "RouteOverride of the cluster",
      answers: specified(31, override({ cluster: "d" })),
      writes: { "x-attempt-router-cluster": "d", ...pinned("#c") },
    },
    {
      name: "RouteOverride of the cluster, by header",
      answers: specified(41, override({ cluster_header: "x-cluster" }), { "x-cluster": "d" }),
      writes: { "x-attempt-router-cluster": "d", ...pinned("#c") },
      allocations: 1,
    },
    {
      name: "RouteOverride to priority groups",
      answers: specified(32, override({ priority_groups: [group("x", "b"), group("y", "c")] })),
      writes: { [SLOT_1]: "b", [SLOT_2]: "c", "attempt_router.3": "c", ...pinned("#g") },
    },
    {
      name: "RouteOverride of the retry policy",
      answers: specified(33, override({ retry_policy: { retry_on: "5xx", num_retries: 2 } })),
      writes: {
        "x-envoy-retry-on": "5xx",
        "x-envoy-retry-grpc-on": "5xx",
        "x-envoy-max-retries": "2",
        ...pinned("#r"),
      },
    },
    {
      name: "RouteOverride of headers",
      answers: specified(34, override({ request_headers_to_add: [{ header: { key: "x-a", value: "b" } }] })),
      writes: pinned(),
    },
    { name: "RouteTemplate", answers: specified(35, template), writes: { "attempt_router.route": "other" } },
    { name: "DropRoute", answers: specified(36, specifier("DropRoute", {})) },
    { name: "Audit, counter", answers: specified(37, specifier("Audit", { counter: "seen" })) },
    { name: "Audit, log", answers: specified(38, specifier("Audit", { log: true })), allocations: 15 },
    { name: "ten specifiers that fail at one header", answers: specified(39, ten(failed)) },
    { name: "ten specifiers that hold", answers: specified(40, ten(held)), writes: { ...timeout, ...pinned() } },
  ];
}

function specifier(type: string, fields: JsonObject): JsonObject {
  return { name: "s", typed_config: { "@type": `type.googleapis.com/attempt_router.v1.${type}`, ...fields } };
}

function specified(id: number, route: JsonObject | JsonObject[], headers: Record<string, string> = {}): Answers {
  const settings = { route_specifiers: { route: [route].flat(), resolved: { name: "r", pin: "given" }, slots: 3 } };
  const properties = { "xds.virtual_host_name": "vh", "xds.cluster_name": "own" };
  return onRoute(id, settings, { properties, headers: { ":method": "GET", ":path": "/", ...headers } });
}

/** A chain of three groups, the first one with this many clusters of weight 1. */
function chain(clusters: 1 | 2, fields: JsonObject = {}): JsonObject {
  const first = clusters === 1 ? group("g1", "a") : group("g1", "a", "a2");
  return settingsOf([first, group("g2", "b"), group("g3", "c")], fields);
}

function settingsOf(priority_groups: JsonObject[], fields: JsonObject = {}): JsonObject {
  return { priority_group: { priority_groups, ...fields }, slots: 3 };
}

function group(name: string, ...clusters: string[]): JsonObject {
  return { name, clusters: clusters.map((cluster_name) => ({ cluster_name, weight: 1 })) };
}

function ownFilter(route: JsonObject): Uint8Array {
  return namespaceMetadata(NAMESPACE, { route, route_name: "own" });
}

function onRoute(id: number, settings: JsonObject, more: Answers = {}): Answers {
  const properties = {
    "xds.route_name": `route@ar-${String(id).padStart(32, "0")}`,
    "xds.route_metadata": namespaceMetadata(NAMESPACE, settings),
    ...more.properties,
  };
  return { ...more, properties };
}
