import type { Finding } from "../findings.js";
import type { Cursor } from "../yaml/cursor.js";
import type { YAMLMap } from "yaml";
import { pairOf, type Editor } from "../yaml/edit.js";
import type { Json } from "../yaml/scalar.js";
import {
  compositeRouteFindings,
  overrides,
  refreshingPolicy,
  slotsOf,
  withComposites,
  type Allowed,
  type CompositeContext,
} from "./composite-route.js";
import { hashPolicies } from "./hash-policy.js";
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
import { hasOverride, ownSettings } from "./override.js";
import { isFoundBy } from "./pin.js";
import { headerSelection, oneSlotSpecifier, slotPerAttemptSpecifier, type Slot } from "./slot-tree.js";
import { sharesOf, type Share } from "./weights.js";
import { METADATA_NAMESPACE, PER_FILTER, PIN_KEY, TYPE, type SlotForm } from "./types.js";

/** The number of slots that the module accepts. */
const MAX_SLOTS = 100;
const INLINE = "inline_cluster_specifier_plugin";
const NAMED = "cluster_specifier_plugin";
const CLUSTER = "cluster";
const REFRESH = "refresh_cluster_on_retry";

/**
 * The typed_config of a priority-group specifier, and the field of the route's action that leads to it; or the name of
 * the route's composite cluster.
 */
export interface SpecifierUse {
  specifier: Cursor;
  field: typeof INLINE | typeof NAMED | typeof CLUSTER;
}

/** One route with a priority-group specifier or a composite cluster, ready to be validated and rewritten. */
export interface PriorityGroupRoute {
  route: Cursor;
  use: SpecifierUse;
  form: SlotForm;
  pin: boolean;
  rereads: boolean;
  /** The route marks that the router has begun, and its slots rely on that. */
  marks: boolean;
  /** Whether the module has work on the route: not where its shares say all there is to say, whatever the client sends. */
  needsModule: boolean;
  /** The routes that it becomes, each for a part of the requests; a single one, for all, where the module picks. */
  shares: readonly Share[];
  settings: RouteSettings;
  /** The route's name once it is lowered; "" for none, where the module does not need one. */
  name: string;
  /** Everything that an attempt may take, whatever the request. */
  slots: Slot[];
  /** What the route's retry policy becomes, where it has to change. */
  retryPolicy?: Json;
}

/** The priority-group specifier that a plugin (`extension: {name, typed_config}`) holds, if it is one. */
export function pluginSpecifier(plugin: Cursor | undefined): Cursor | undefined {
  const config = plugin?.at("extension", "typed_config");
  return config?.type() === TYPE.priorityGroup ? config : undefined;
}

/** How a route uses a priority-group specifier; undefined where it does not. */
export function specifierUse(route: Cursor, plugins: ReadonlyMap<string, Cursor>): SpecifierUse | undefined {
  const action = route.field("route");
  const inline = pluginSpecifier(action?.field(INLINE));
  if (inline !== undefined) return { specifier: inline, field: INLINE };
  const name = action?.field(NAMED)?.string();
  const named = name === undefined ? undefined : pluginSpecifier(plugins.get(name));
  return named === undefined ? undefined : { specifier: named, field: NAMED };
}

/** What the configuration around a route means for it. */
export interface RouteContext extends RouteForm {
  /** A filter before the router may mark that the router has begun, see start-mark.ts. */
  marks: boolean;
  /** The route may become several, see weights.ts. */
  splits: boolean;
  /** How many attempts the retry policies allow. */
  attempts: number;
  /** The clusters that an override may name. */
  allowed: Allowed;
}

/** `host` is the route's virtual host; undefined for a specifier that no route uses. */
export function planRoute(
  route: Cursor,
  host: Cursor | undefined,
  use: SpecifierUse,
  around: RouteContext,
  context: CompositeContext,
  findings: Finding[],
): PriorityGroupRoute {
  const { form } = around;
  const rereads = around.rereads && hasOverride(use.specifier);
  const known = { ...around, rereads };
  const base =
    use.field === CLUSTER ? clusterSettings(route, use, known) : specifierSettings(route, use, known, findings);
  const retries = host === undefined ? undefined : refreshingPolicy(route, host);
  const settings = withComposites(base, context, retries?.refreshes ?? true);
  const slots = slotsOf(settings, context, around.allowed);
  const shares = staticShares(settings, slots, around);
  const marks = shares !== undefined && slots.length > 1;
  const needsModule = shares === undefined;
  const planned: PriorityGroupRoute = {
    route,
    use,
    form,
    pin: around.pin && needsModule,
    rereads: overrides(settings) && settings["read_metadata_per_attempt"] === true,
    marks,
    needsModule,
    shares: shares ?? [{ slots }],
    settings,
    name: needsModule ? routeName(nameOf(route), settings) : originalName(nameOf(route)),
    slots,
  };
  if (host === undefined || settings === base) return planned;
  findings.push(...compositeRouteFindings(route, host, settings, context));
  return retries === undefined ? planned : { ...planned, retryPolicy: retries.policy };
}

/** What a chain becomes that needs no module, in a form that tells attempts apart without it. */
function staticShares(
  settings: RouteSettings,
  slots: readonly Slot[],
  { form, marks, splits }: RouteContext,
): readonly Share[] | undefined {
  const tells = slots.length === 1 ? form !== "HEADERS" : marks && form === "SLOT_PER_ATTEMPT";
  if (!tells) return undefined;
  if (slots.every(({ otherClusters, open }) => otherClusters.length === 0 && !open)) return [{ slots }];
  return splits ? sharesOf(settings) : undefined;
}

function clusterSettings(route: Cursor, use: SpecifierUse, form: RouteForm): RouteSettings {
  return routeSettings({ cluster: use.specifier.json() }, form, 1, ownSettings(route));
}

function specifierSettings(route: Cursor, use: SpecifierUse, around: RouteContext, findings: Finding[]): RouteSettings {
  const group = messageJson(use.specifier, findings);
  const usesHash = isMessage(group) && (group["use_hash_policy"] === true || group["use_hash_policy"] === "true");
  const action = route.field("route");
  const policies = usesHash && action !== undefined ? hashPolicies(action, findings) : undefined;
  const count = groupsOf({ priority_group: group }).length;
  rejectTooMany(use.specifier, count, findings);
  const chain = { priority_group: group, ...(policies === undefined ? {} : { hash_policy: policies }) };
  const own = ownSettings(route);
  const attempts = overrides(chain) ? Math.max(around.attempts, askedSlots(own)) : 1;
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
  if (planned.needsModule) setSettings(route, settings, editor);
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
  const byHeader = planned.form === "HEADERS" && isFoundBy(planned.route, [PIN_KEY]);
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
export function readsAttemptCount({ slots, form, marks, pin }: PriorityGroupRoute): boolean {
  return form === "HEADERS" || (form === "SLOT_PER_ATTEMPT" && (pin || slots.length > (marks ? 2 : 1)));
}

/** The slots of a planned route, of the last of its shares, as the value of inline_cluster_specifier_plugin. */
export function slotSpecifier({ shares, form, marks, needsModule }: PriorityGroupRoute): Json {
  const slots = shares[shares.length - 1]?.slots ?? [];
  if (form !== "ONE_SLOT" || !needsModule) return slotPerAttemptSpecifier(slots, marks);
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
