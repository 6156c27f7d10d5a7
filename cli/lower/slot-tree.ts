import type { Json } from "../yaml/scalar.js";
import { STARTED } from "./start-mark.js";
import {
  ATTEMPT_COUNT_HEADER,
  FIRST_HEADER,
  ONE_SLOT_KEY,
  slotHeader,
  slotKey,
  STARTED_KEY,
  TYPE,
  UNKNOWN_CLUSTER,
} from "./types.js";

/** What one slot may hold: the cluster when nothing was written, and the others that may be written. */
export interface Slot {
  defaultCluster: string;
  otherClusters: readonly string[];
  /** Anything may be written, and what is not in `otherClusters` fails the request, as native Envoy has it. */
  open: boolean;
  /** By the name that is written, the cluster that stands in its place at this attempt; the others stand for themselves. */
  instead?: { readonly [name: string]: string };
}

type Matcher = { [key: string]: Json };

/**
 * The inline specifier in which attempt n finds its cluster under filter state `wasm.attempt_router.<n>`. While the
 * router resolves the cluster of attempt n + 1, the attempt count header still says n. At attempt 1 it is absent, or, where
 * the route `marks` the start, not looked at.
 */
export function slotPerAttemptSpecifier(slots: readonly Slot[], marks = false): Json {
  const [first, ...later] = slots.map((slot, index) => slotMatcher(slotKey(index + 1), slot));
  if (first === undefined) throw new Error("a chain has at least one slot");
  if (later.length === 0) return matcherSpecifier(first);
  return matcherSpecifier(marks ? markedTree(first, later) : attemptTree(first, later));
}

/** Entries that a header selection has at least: past the last the router begins again with the first. */
const MIN_ENTRIES = 32;

/**
 * The action of a route whose attempt n finds its cluster in the request header `x-attempt-router-cluster-<n>`. The router
 * begins with the entry that the random value falls on, 0 from the header that the module writes, and takes the next one
 * at each refresh: attempts without a header of their own have entries of the last one.
 */
export function headerSelection(slots: number): { [key: string]: Json } {
  const clusters = Array.from({ length: Math.max(slots, MIN_ENTRIES) }, (_, index) => ({
    cluster_header: slotHeader(Math.min(index + 1, slots)),
    weight: 1,
  }));
  return { weighted_clusters: { clusters, header_name: FIRST_HEADER } };
}

/** The inline specifier in which every attempt reads the same slot, rewritten during the attempt before. */
export function oneSlotSpecifier(slot: Slot): Json {
  return matcherSpecifier(slotMatcher(ONE_SLOT_KEY, slot));
}

function markedTree(first: Matcher, later: Matcher[]): Matcher {
  const input = { name: "started", typed_config: { "@type": TYPE.filterStateInput, key: STARTED_KEY } };
  const map = { [STARTED]: laterAttempts(later) };
  return { matcher_tree: { input, exact_match_map: { map } }, on_no_match: onMatch(first) };
}

/** What the header leads to where it is known to be the router's. */
function laterAttempts(slots: Matcher[]): Json {
  const last = onMatch(slots[slots.length - 1] ?? {});
  return slots.length === 1 ? last : { matcher: attemptMatcher(slots, last) };
}

function attemptTree(first: Matcher, later: Matcher[]): Matcher {
  const last = onMatch(later[later.length - 1] ?? {});
  const rest: Matcher = {
    matcher_list: { matchers: [{ predicate: { single_predicate: anyAttempt() }, on_match: last }] },
    on_no_match: onMatch(first),
  };
  return later.length === 1 ? rest : attemptMatcher(later, { matcher: rest });
}

/** Leads attempt count n to slot n + 1; what is no such number, and that of the last slot, to `otherwise`. */
function attemptMatcher(later: Matcher[], otherwise: Json): Matcher {
  const map = Object.fromEntries(later.slice(0, -1).map((slot, index) => [String(index + 1), onMatch(slot)]));
  return { matcher_tree: { input: attemptInput(), exact_match_map: { map } }, on_no_match: otherwise };
}

function slotMatcher(key: string, slot: Slot): Matcher {
  const actionOf = (name: string) => clusterAction(slot.instead?.[name] ?? name);
  const fallback = { on_no_match: actionOf(slot.defaultCluster) };
  if (slot.otherClusters.length === 0 && !slot.open) return fallback;
  const map = Object.fromEntries(slot.otherClusters.map((cluster) => [cluster, actionOf(cluster)]));
  const input = { name: "slot", typed_config: { "@type": TYPE.filterStateInput, key } };
  const tree = { matcher_tree: { input, exact_match_map: { map } } };
  if (!slot.open) return { ...tree, ...fallback };
  const predicate = { single_predicate: { input, value_match: anyText(ANY_BYTES) } };
  const matchers = [{ predicate, on_match: clusterAction(UNKNOWN_CLUSTER) }];
  return { ...tree, on_no_match: { matcher: { matcher_list: { matchers }, ...fallback } } };
}

/** A matcher that always ends the same way is written as its action. */
function onMatch(matcher: Matcher): Json {
  return Object.keys(matcher).join() === "on_no_match" ? (matcher["on_no_match"] as Json) : { matcher };
}

function clusterAction(cluster: string): Json {
  return { action: { name: cluster, typed_config: { "@type": TYPE.clusterAction, cluster } } };
}

function attemptInput(): Json {
  return { name: "attempt", typed_config: { "@type": TYPE.headerInput, header_name: ATTEMPT_COUNT_HEADER } };
}

function anyAttempt(): Json {
  return { input: attemptInput(), value_match: anyText(".+") };
}

// What metadata names a cluster may hold line breaks, and bytes that are no UTF-8.
const ANY_BYTES = "(?s)\\C+";

function anyText(regex: string): Json {
  return { safe_regex: { google_re2: {}, regex } };
}

function matcherSpecifier(clusterMatcher: Matcher): Json {
  return {
    extension: {
      name: "envoy.router.cluster_specifier_plugin.matcher",
      typed_config: { "@type": TYPE.matcherSpecifier, cluster_matcher: clusterMatcher },
    },
  };
}
