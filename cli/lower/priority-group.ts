import type { Finding } from "../findings.js";
import type { Cursor } from "../yaml/cursor.js";
import { pairOf, type Editor } from "../yaml/edit.js";
import type { Json } from "../yaml/scalar.js";
import { hashPolicies } from "./hash-policy.js";
import {
  groupsOf,
  isMessage,
  messageJson,
  priorityGroupSettings,
  routeName,
  type RouteForm,
  type RouteSettings,
} from "./settings.js";
import { oneSlotSpecifier, slotPerAttemptSpecifier, type Slot } from "./slot-tree.js";
import { METADATA_NAMESPACE, TYPE, type SlotForm } from "./types.js";

/** The number of slots that the module accepts. */
const MAX_SLOTS = 100;
const INLINE = "inline_cluster_specifier_plugin";
const NAMED = "cluster_specifier_plugin";

/** The typed_config of a priority-group specifier, and the field of the route's action that leads to it. */
export interface SpecifierUse {
  specifier: Cursor;
  field: typeof INLINE | typeof NAMED;
}

/** One route with a priority-group specifier, ready to be validated and rewritten. */
export interface PriorityGroupRoute {
  route: Cursor;
  use: SpecifierUse;
  form: SlotForm;
  pin: boolean;
  settings: RouteSettings;
  name: string;
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

export function planRoute(route: Cursor, use: SpecifierUse, form: RouteForm, findings: Finding[]): PriorityGroupRoute {
  const group = messageJson(use.specifier, findings);
  const usesHash = isMessage(group) && (group["use_hash_policy"] === true || group["use_hash_policy"] === "true");
  const action = route.field("route");
  const policies = usesHash && action !== undefined ? hashPolicies(action, findings) : undefined;
  const ownMetadata = route.at("metadata", "filter_metadata", METADATA_NAMESPACE)?.json();
  const own = isMessage(ownMetadata) ? ownMetadata : {};
  const count = groupsOf({ priority_group: group }).length;
  const settings = priorityGroupSettings(group, policies, form, Math.min(Math.max(count, 1), MAX_SLOTS), own);
  rejectUnsupported(use.specifier, count, findings);
  return { route, use, ...form, settings, name: routeName(route.field("name")?.string(), settings) };
}

/** Writes a planned route: its name, its settings, and the slots in the place of the specifier. */
export function rewriteRoute(planned: PriorityGroupRoute, editor: Editor): void {
  const { route, use, settings } = planned;
  const action = route.field("route");
  // Not a chain: the module's findings stop the file, so there is nothing to write.
  if (groupsOf(settings).length === 0) return;
  if (route.map === undefined || action?.map === undefined) throw new Error("a planned route is a map with an action");
  editor.set(route.map, "name", planned.name, "route");
  setSettings(route, settings, editor);
  const pair = pairOf(action.map, use.field);
  // A pair that came with a merge key is only written where it stands once the merge key is written out.
  if (pair === undefined) editor.touch(action.map);
  else editor.replacePair(action.map, pair, INLINE, slotSpecifier(planned));
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

/** The slots of a planned route, as the value of inline_cluster_specifier_plugin. */
export function slotSpecifier({ settings, form }: PriorityGroupRoute): Json {
  const lists = groupsOf(settings).map((group) => group.clusters.map((cluster) => cluster.cluster_name));
  if (form === "ONE_SLOT") {
    return oneSlotSpecifier({ defaultCluster: lists[0]?.[0] ?? "", otherClusters: [...new Set(lists.flat())] });
  }
  return slotPerAttemptSpecifier(lists.map(slotOf));
}

function slotOf(clusters: string[]): Slot {
  const [defaultCluster = "", ...others] = [...new Set(clusters)];
  return { defaultCluster, otherClusters: others };
}

function rejectUnsupported(specifier: Cursor, groups: number, findings: Finding[]): void {
  const override = specifier.field("override_metadata_namespace");
  if (override !== undefined && override.string() !== "") {
    findings.push(override.finding("expected no override_metadata_namespace, which cannot be lowered yet, found one"));
  }
  if (groups <= MAX_SLOTS) return;
  const list = specifier.field("priority_groups") ?? specifier;
  findings.push(list.finding(`expected at most ${MAX_SLOTS} priority groups, found ${groups}`));
}
