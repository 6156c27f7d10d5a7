// The picks of a route's attempts, made by the module itself.

import { fromJson, toBinary, type JsonObject, type JsonValue } from "@bufbuild/protobuf";
import { WasmHost, type MetadataInput, type SimulatedRequest, type TypedValue } from "../host/index.js";
import { FOR_LOWER_ALONE } from "../lower/override.js";
import { routeName } from "../lower/settings.js";
import type { Attempts, JsonMessage } from "../model/index.js";
import { PriorityGroupsOverrideSchema } from "../proto/envoy/extensions/router/cluster_specifiers/priority_group/v3/priority_group_pb.js";
import type { Picks } from "./attempts.js";
import type { Answer, ExplainedRequest } from "./request.js";

const NAMESPACE = "attempt_router";
/** Stands in the place of a route's own source of random values, so that any value can be given. */
const RANDOM_HEADER = "x-attempt-router-explain-random";
const OVERRIDE_TYPE = "PriorityGroupsOverride";
const MAX_SLOTS = 100;
/** By which the module tells the router not to retry an answer. */
const STOP_HEADER = "x-envoy-ratelimited";
/** The number of the next attempt's group, at most 100, once a step has led elsewhere. */
const TURN = "wasm.attempt_router.turn";

/** Settings of a route, and the clusters that stand in slots which the module leaves alone. */
export interface RoutePlan {
  readonly settings: JsonMessage;
  readonly defaults: readonly string[];
}

function without(message: JsonMessage, keys: readonly string[]): JsonMessage {
  return Object.fromEntries(Object.entries(message).filter(([key]) => !keys.includes(key)));
}

/** A route's plan for this many attempts. */
export function planOf(attempts: Attempts, own: JsonMessage, count: number): RoutePlan {
  const slots = Math.min(Math.max(count, attempts.groups.length, 1), MAX_SLOTS);
  const hash = attempts.random.kind === "hash" ? { hash_policy: attempts.random.policies.map(({ json }) => json) } : {};
  const settings = { ...without(own, FOR_LOWER_ALONE), priority_group: attempts.json, ...hash, slots };
  return { settings, defaults: attempts.groups.map((group) => group.clusters[0]?.name.value ?? "") };
}

/** The same plan, with every random value given by `random`. */
function withGivenRandom({ settings, defaults }: RoutePlan): RoutePlan {
  const group = without(settings["priority_group"] as JsonMessage, ["header_name", "use_hash_policy"]);
  return { settings: { ...settings, priority_group: { ...group, header_name: RANDOM_HEADER } }, defaults };
}

/** Runs the module on routes and requests. */
export class ModulePicks {
  private readonly host: WasmHost;
  private readonly names = new Map<string, string>();
  private runs = 0;

  /** @param wasm the bytes of the module. @throws ModuleLoadError for other bytes */
  constructor(wasm: Uint8Array) {
    this.host = WasmHost.load(wasm);
  }

  /**
   * The picks of one request; `random` undefined leaves the value to the route's own source.
   * The module is run once for the request, and once more after each attempt, as upstream filters are.
   */
  picks(plan: RoutePlan, request: ExplainedRequest, random: bigint | undefined): Picks {
    const used = random === undefined ? plan : withGivenRandom(plan);
    const simulated = this.run(used, request, random);
    let previous = "";
    const cluster = (attempt: number): string => (previous = clusterOf(simulated, used, attempt));
    const answered = (attempt: number, answer: Answer, elapsed: number): boolean => {
      const attributes = { "request.time": this.host.now - BigInt(elapsed) * 1_000_000n };
      const { responseHeaders } = simulated.attempt(attempt, { ...attemptOf(previous, answer), attributes });
      const own = answer.kind === "response" && answer.headers[STOP_HEADER] !== undefined;
      return !own && responseHeaders?.first(STOP_HEADER) !== undefined;
    };
    const group = (attempt: number): number | undefined => {
      const turn = simulated.filterState.get(TURN)?.[0] ?? 0;
      return attempt > 1 && turn > 0 ? turn : undefined;
    };
    return { cluster, answered, group };
  }

  /** Whether the request itself, by a header or a hash, decides its random value. */
  isDecided(plan: RoutePlan, request: ExplainedRequest): boolean {
    const group = plan.settings["priority_group"] as JsonMessage;
    // Eight internal values that all lead to the same of 256 clusters do not occur.
    const clusters = Array.from({ length: 256 }, (_, index) => ({ cluster_name: `c${index}`, weight: 1 }));
    const source = without(group, ["override_metadata_namespace"]);
    const probe = {
      ...plan.settings,
      priority_group: { ...source, priority_groups: [{ name: "probe", clusters }] },
      slots: 1,
    };
    const picks = Array.from({ length: 8 }, () => {
      const simulated = this.run({ settings: probe, defaults: ["c0"] }, request, undefined);
      const pick = simulated.slots["1"] ?? "c0";
      simulated.end();
      return pick;
    });
    return new Set(picks).size === 1;
  }

  /** What the module says of one entry of an override, or of the override as a whole where `entry` is undefined. */
  override(plan: RoutePlan, request: ExplainedRequest, entry: OverrideEntry | undefined): OverrideUse {
    const group = plan.settings["priority_group"] as JsonMessage;
    const names = (group["priority_groups"] as JsonMessage[]).map((one) => one["name"]);
    const marked = names.map((one, index) => ({ name: one ?? "", clusters: marker(`${NAMED}${index}`) }));
    const priority_groups = [{ name: POSITION, clusters: marker(POSITION) }, ...marked];
    const settings = { ...plan.settings, priority_group: { ...group, priority_groups }, slots: 1 };
    const metadata = entry === undefined ? request.metadata : { ...request.metadata, [entry.namespace]: entry.value };
    const before = this.host.logs.length;
    const simulated = this.run({ settings, defaults: [POSITION] }, { ...request, metadata }, undefined, true);
    simulated.end();
    const lines = this.host.logs.slice(before).map(({ message }) => message);
    const cause = lines
      .map((line) => /override_metadata_namespace: (.*)$/.exec(line)?.[1])
      .find((text) => text !== undefined);
    return { use: useOf(simulated.slots["1"] ?? POSITION), cause };
  }

  /** Runs the downstream role on any settings: those of a route, or of a virtual host where `host` is given. */
  private run(
    plan: RoutePlan,
    request: ExplainedRequest,
    random: bigint | undefined,
    anew = false,
    host?: string,
  ): SimulatedRequest {
    const headers: [string, string][] = [
      [":method", request.method],
      [":path", request.path],
      [":authority", request.authority],
      [":scheme", request.scheme],
      ["x-forwarded-proto", request.scheme],
      ...request.headers.map(([name, value]): [string, string] => [name, value]),
    ];
    if (random !== undefined) headers.push([RANDOM_HEADER, random.toString()]);
    const name = this.nameOf(plan.settings, anew);
    const metadata = { filter_metadata: { [NAMESPACE]: plan.settings as JsonObject } };
    const place =
      host === undefined
        ? { routeName: name, routeMetadata: metadata }
        : { route: false, virtualHostName: name, virtualHostMetadata: metadata };
    return this.host.request({
      ...place,
      clusterName: plan.defaults[0] ?? "",
      headers,
      dynamicMetadata: metadataInput(request.metadata),
      sourceAddress: `${request.client.includes(":") ? `[${request.client}]` : request.client}:50000`,
    });
  }

  /** What an Audit writes into a response header when the specifiers in the settings run; undefined: nothing. */
  audit(
    settings: JsonMessage,
    request: ExplainedRequest,
    header: string,
    hasRoute: boolean,
    host: string,
  ): string | undefined {
    const simulated = this.run({ settings, defaults: [""] }, request, undefined, false, hasRoute ? undefined : host);
    const { headers } = simulated.respond({ status: 200 });
    simulated.end();
    return headers.first(header);
  }

  /** The module keeps settings, and what it reported of them, by the digits in the route's name. */
  private nameOf(settings: JsonMessage, anew: boolean): string {
    const key = JSON.stringify(settings);
    const before = anew ? undefined : this.names.get(key);
    if (before !== undefined) return before;
    this.runs += 1;
    const digits = routeName(undefined, settings).length - "@ar-".length;
    const name = `explain@ar-${this.runs.toString(16).padStart(digits, "0")}`;
    this.names.set(key, name);
    return name;
  }
}

/** One entry of an override, alone in its list. */
export interface OverrideEntry {
  readonly namespace: string;
  readonly value: JsonMessage;
}

/** `none`: the configured group of the attempt; `named`: that configured group; `own`: the entry's clusters. */
export interface OverrideUse {
  readonly use:
    | { readonly kind: "none" }
    | { readonly kind: "named"; readonly index: number }
    | { readonly kind: "own" };
  readonly cause: string | undefined;
}

// No cluster and no group is called so.
const POSITION = "\u0001position";
const NAMED = "\u0001named";

function marker(name: string): JsonMessage[] {
  return [{ cluster_name: name, weight: 1 }];
}

function useOf(pick: string): OverrideUse["use"] {
  if (pick === POSITION) return { kind: "none" };
  if (pick.startsWith(NAMED)) return { kind: "named", index: Number(pick.slice(NAMED.length)) };
  return { kind: "own" };
}

function clusterOf(simulated: SimulatedRequest, { defaults, settings }: RoutePlan, attempt: number): string {
  const slot = Math.min(attempt, Number(settings["slots"]));
  return simulated.slots[String(slot)] ?? defaults[Math.min(slot, defaults.length) - 1] ?? "";
}

function attemptOf(clusterName: string, before: Answer): Parameters<SimulatedRequest["attempt"]>[1] {
  if (before.kind !== "response") return { clusterName };
  return { clusterName, response: { status: before.status, headers: before.headers } };
}

/** @throws Error for typed metadata that is no message of its type */
function metadataInput(metadata: ExplainedRequest["metadata"]): MetadataInput {
  const typed: Record<string, TypedValue> = {};
  const untyped: Record<string, JsonObject> = {};
  for (const [namespace, value] of Object.entries(metadata)) {
    const typeUrl = value["@type"];
    if (typeof typeUrl === "string") typed[namespace] = typedValue(typeUrl, value);
    else untyped[namespace] = value as JsonObject;
  }
  return { filter_metadata: untyped, typed_filter_metadata: typed };
}

function typedValue(typeUrl: string, value: JsonMessage): TypedValue {
  if (!typeUrl.endsWith(`.${OVERRIDE_TYPE}`)) return { typeUrl, value: new Uint8Array(0) };
  const message = fromJson(PriorityGroupsOverrideSchema, without(value, ["@type"]) as JsonValue);
  return { typeUrl, value: toBinary(PriorityGroupsOverrideSchema, message) };
}
