import type { Delivery, Reason } from "../choose/delivery.js";
import { sharesOfDelivery } from "../choose/routes.js";
import type { Share } from "../choose/weights.js";
import type { Finding } from "../findings.js";
import type { Attempts } from "../model/attempts.js";
import { cursorAt } from "../read/place.js";
import { weightedAsGroup } from "../read/weighted-composites.js";
import type { Cursor } from "../yaml/cursor.js";
import type { YAMLMap } from "yaml";
import { pairOf } from "../yaml/edit.js";
import type { Editor } from "../yaml/tree.js";
import type { Json } from "../yaml/scalar.js";
import {
  compositeRouteFindings,
  overrides,
  refreshingPolicy,
  refusal,
  slotsOf,
  withComposites,
  type Allowed,
  type CompositeContext,
} from "./composite-route.js";
import { apartFindings } from "./composites-apart.js";
import { deliverComposites, type CompositeDelivery } from "./aggregate-route.js";
import { hashPolicies } from "./hash-policy.js";
import { weightedFindings } from "./weighted-composites.js";
import {
  groupsOf,
  isMessage,
  messageJson,
  originalName,
  routeName,
  routeSettings,
  type RouteForm,
  type RouteSettings,
} from "./settings.js";
import { answersFindings, slotsForSteps, watchesAnswers, withAnswers } from "./answers.js";
import { hasOverride, ownSettings } from "./override.js";
import { avoidsTried, pickFindings, withoutInheritedPicks } from "./picks.js";
import { isFoundBy } from "./pin.js";
import { headerSelection, oneSlotSpecifier, slotPerAttemptSpecifier, type Slot } from "./slot-tree.js";
import { METADATA_NAMESPACE, PER_FILTER, PIN_KEY, type SlotForm } from "./types.js";

/** The number of slots that the module accepts. */
const MAX_SLOTS = 100;
const INLINE = "inline_cluster_specifier_plugin";
const NAMED = "cluster_specifier_plugin";
const CLUSTER = "cluster";
const WEIGHTED = "weighted_clusters";
const REFRESH = "refresh_cluster_on_retry";

/**
 * The typed_config of a priority-group specifier, and the field of the route's action that leads to it; or the name of
 * the route's composite cluster, or its weighted clusters, of which some are composite ones.
 */
export interface SpecifierUse {
  specifier: Cursor;
  field: typeof INLINE | typeof NAMED | typeof CLUSTER | typeof WEIGHTED;
}

/** What is known of a route before its form is chosen. */
export interface PreparedRoute {
  route: Cursor;
  use: SpecifierUse;
  form: SlotForm;
  /** Metadata is read at every attempt. */
  rereads: boolean;
  settings: RouteSettings;
  /** Everything that an attempt may take, whatever the request. */
  slots: Slot[];
  /** How its composite clusters are delivered; undefined where it can meet none. */
  composites?: CompositeDelivery;
  /** What the route's retry policy becomes, where it has to change. */
  retryPolicy?: Json;
}

/** One route with a priority-group specifier or a composite cluster, ready to be validated and rewritten. */
export interface PriorityGroupRoute extends PreparedRoute {
  delivery: Delivery;
  /** Why the upstream role has work on the route. */
  perAttempt: Reason | undefined;
  /** The routes that it becomes, each for a part of the requests; a single one, for all, where the module picks. */
  shares: readonly Share[];
  /** The route's name once it is lowered; "" for none, where the module does not need one. */
  name: string;
}

const FIELDS = { inline: INLINE, named: NAMED, composite: CLUSTER, weighted: WEIGHTED } as const;

/** Where the attempts of a route stand in the file. */
export function specifierUse({ source, origin }: Attempts): SpecifierUse {
  return { specifier: cursorAt(origin), field: FIELDS[source.kind] };
}

/** What the configuration around a route means for it. */
export interface RouteContext extends RouteForm {
  /** How many attempts the retry policies allow. */
  attempts: number;
  /** The clusters that an override may name. */
  allowed: Allowed;
}

/** `host` is the route's virtual host; undefined for a specifier that no route uses. */
export function prepareRoute(
  route: Cursor,
  host: Cursor | undefined,
  use: SpecifierUse,
  around: RouteContext,
  context: CompositeContext,
  findings: Finding[],
): PreparedRoute {
  const { form } = around;
  const rereads = around.rereads && hasOverride(use.specifier);
  const known = { ...around, rereads };
  const base =
    use.field === CLUSTER
      ? clusterSettings(route, use, known, host)
      : specifierSettings(route, use, known, host, findings);
  const retries = host === undefined ? undefined : refreshingPolicy(route, host);
  const refreshes = retries?.refreshes ?? true;
  const hostPriority = host?.at("retry_policy", "retry_priority") !== undefined;
  const composites = deliverComposites(base, {
    ...context,
    route,
    allowed: around.allowed,
    usesUpstreamRole: form === "ONE_SLOT" || rereads || watchesAnswers(base),
    retryPriority: hostPriority && route.at("route", "retry_policy") === undefined,
    refreshes,
  });
  const aggregated = composites?.form === "AGGREGATE";
  const defaults = new Set(composites?.aggregates.map(({ composite }) => composite));
  const settings = aggregated
    ? composites.settings
    : withComposites(base, context, around.allowed, refreshes, defaults);
  if (composites !== undefined) findings.push(...apartFindings(use.specifier, composites, context.composites));
  if (composites?.form === "REFUSED") findings.push(use.specifier.finding(refusal(composites.because)));
  if (host !== undefined)
    for (const findingsOf of [answersFindings, pickFindings])
      findings.push(...findingsOf(settings, route, host, composites !== undefined));
  const prepared: PreparedRoute = {
    route,
    use,
    form,
    rereads: overrides(settings) && settings["read_metadata_per_attempt"] === true,
    settings,
    slots: slotsForSteps(aggregated ? composites.slots : slotsOf(settings, context, around.allowed), settings),
    ...(composites === undefined ? {} : { composites }),
  };
  if (host === undefined || composites === undefined) return prepared;
  findings.push(...compositeRouteFindings(route, host, settings, context));
  if (use.field === WEIGHTED) findings.push(...weightedFindings(use.specifier, route, host));
  return retries === undefined ? prepared : { ...prepared, retryPolicy: retries.policy };
}

/** The route in the form that was chosen for it. */
export function deliver(
  prepared: PreparedRoute,
  delivery: Delivery,
  perAttempt: Reason | undefined,
): PriorityGroupRoute {
  const { route, settings, slots } = prepared;
  const needs = needsModule(delivery);
  const name = isTold({ delivery, settings }) ? routeName(nameOf(route), settings) : originalName(nameOf(route));
  const shares = sharesOfDelivery(delivery, slots);
  return { ...prepared, delivery, shares, name, perAttempt: needs ? perAttempt : undefined };
}

/** Whether the module is told of the route: it has work on it, or gives it to route specifiers. */
function isTold({ delivery, settings }: Pick<PriorityGroupRoute, "delivery" | "settings">): boolean {
  return needsModule(delivery) || "route_specifiers" in settings;
}

/** Whether the module has work on the route: not where its shares say all there is to say, whatever the client sends. */
export function needsModule({ kind }: Delivery): boolean {
  return kind !== "static" && kind !== "shares";
}

/** The route marks that the router has begun, and its slots rely on that. */
export function marksStart(delivery: Delivery): boolean {
  return "routerStarted" in delivery && delivery.routerStarted;
}

/** Whether a copy of the route keeps the request on it when the route is selected again. */
export function isPinnedTo(delivery: Delivery): boolean {
  return delivery.kind === "headers" || ("pinned" in delivery && delivery.pinned);
}

function clusterSettings(route: Cursor, use: SpecifierUse, form: RouteForm, host?: Cursor): RouteSettings {
  const own = ownSettings(route);
  const settings = withoutInheritedPicks(withAnswers(own, route, host), own);
  return routeSettings({ cluster: use.specifier.json() }, form, 1, settings);
}

function specifierSettings(
  route: Cursor,
  use: SpecifierUse,
  around: RouteContext,
  host: Cursor | undefined,
  findings: Finding[],
): RouteSettings {
  const group = use.field === WEIGHTED ? weightedAsGroup(use.specifier) : messageJson(use.specifier, findings);
  const usesHash = isMessage(group) && (group["use_hash_policy"] === true || group["use_hash_policy"] === "true");
  const action = route.field("route");
  const policies = usesHash && action !== undefined ? hashPolicies(action, findings) : undefined;
  const count = groupsOf({ priority_group: group }).length;
  rejectTooMany(use.specifier, count, findings);
  const chain = { priority_group: group, ...(policies === undefined ? {} : { hash_policy: policies }) };
  const own = withAnswers(ownSettings(route), route, host);
  const each = overrides(chain) || avoidsTried({ ...own, ...chain });
  const attempts = each ? Math.max(around.attempts, askedSlots(own)) : 1;
  return routeSettings(chain, around, Math.min(Math.max(count, attempts), MAX_SLOTS), own);
}

// An override may be longer than the configured list, and request headers may allow more attempts than the retry policies
// do: how many is only known to the user.
function askedSlots(own: { [key: string]: Json }): number {
  return typeof own["slots"] === "number" ? own["slots"] : 1;
}

/** Adds to a route's own configuration of filters. */
export function setPerFilter({ route }: PriorityGroupRoute, perFilter: { [key: string]: Json }, editor: Editor): void {
  const entries = Object.entries(perFilter);
  if (entries.length === 0) return;
  const own = route.field(PER_FILTER)?.map;
  if (own === undefined && route.map !== undefined) editor.set(route.map, PER_FILTER, perFilter, "route");
  for (const [name, config] of own === undefined ? [] : entries) editor.set(own as YAMLMap, name, config);
}

/** Writes a planned route: its name, its settings, and the slots in the place of the specifier. */
export function rewriteRoute(planned: PriorityGroupRoute, editor: Editor): void {
  const { route, use, settings } = planned;
  const action = route.field("route");
  // Not a chain: the module's findings stop the file, so there is nothing to write.
  if (groupsOf(settings).length === 0) return;
  if (route.map === undefined || action?.map === undefined) throw new Error("a planned route is a map with an action");
  if (planned.name !== nameOf(route)) editor.set(route.map, "name", planned.name, "route");
  if (isTold(planned)) setSettings(route, settings, editor);
  const pair = pairOf(action.map, use.field);
  // A pair that came with a merge key is only written where it stands once the merge key is written out.
  if (pair === undefined) editor.touch(action.map);
  else
    for (const [field, value] of Object.entries(selectionOf(planned)))
      editor.replacePair(action.map, pair, field, value);
  setRetryPolicy(planned, action, editor);
}

/** What stands in the place of the specifier. The module wrote the headers for a request that found a copy by its pin. */
function selectionOf(planned: PriorityGroupRoute): { [field: string]: Json } {
  const byHeader = planned.delivery.kind === "headers" && isFoundBy(planned.route, [PIN_KEY]);
  return byHeader ? headerSelection(planned.slots.length) : { [INLINE]: slotSpecifier(planned) };
}

function nameOf(route: Cursor): string {
  return route.field("name")?.string() ?? "";
}

function setRetryPolicy({ retryPolicy }: PriorityGroupRoute, action: Cursor, editor: Editor): void {
  if (retryPolicy === undefined || action.map === undefined) return;
  const own = action.field("retry_policy");
  if (own?.map === undefined) editor.set(action.map, "retry_policy", retryPolicy);
  else if (own.field(REFRESH)?.bool() !== true) editor.set(own.map, REFRESH, true);
}

function setSettings(route: Cursor, settings: RouteSettings, editor: Editor): void {
  const metadata = route.field("metadata");
  const filterMetadata = metadata?.field("filter_metadata");
  if (filterMetadata?.map !== undefined) editor.set(filterMetadata.map, METADATA_NAMESPACE, settings);
  else if (metadata?.map !== undefined) editor.set(metadata.map, "filter_metadata", { [METADATA_NAMESPACE]: settings });
  else if (route.map !== undefined) {
    editor.set(route.map, "metadata", { filter_metadata: { [METADATA_NAMESPACE]: settings } }, "route");
  }
}

/** Whether the header x-envoy-attempt-count tells a route's slots apart, or that its pinned copy has had its time. */
export function readsAttemptCount({ slots, delivery }: PriorityGroupRoute): boolean {
  if (delivery.kind === "oneSlot") return false;
  return isPinnedTo(delivery) || slots.length > (marksStart(delivery) ? 2 : 1);
}

/** The slots of a planned route, of the last of its shares, as the value of inline_cluster_specifier_plugin. */
export function slotSpecifier({ shares, delivery }: PriorityGroupRoute): Json {
  const slots = shares[shares.length - 1]?.slots ?? [];
  if (delivery.kind !== "oneSlot") return slotPerAttemptSpecifier(slots, marksStart(delivery));
  const all = new Set(slots.flatMap((slot) => [slot.defaultCluster, ...slot.otherClusters]));
  const [first] = slots;
  return oneSlotSpecifier({
    defaultCluster: first?.defaultCluster ?? "",
    otherClusters: [...all],
    open: first?.open === true,
  });
}

function rejectTooMany(specifier: Cursor, groups: number, findings: Finding[]): void {
  if (groups <= MAX_SLOTS) return;
  const list = specifier.field("priority_groups") ?? specifier;
  findings.push(list.finding(`expected at most ${MAX_SLOTS} priority groups, found ${groups}`));
}
