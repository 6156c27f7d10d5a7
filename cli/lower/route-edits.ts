import type { VirtualHost } from "../model/route.js";
import { cursorAt } from "../read/place.js";
import type { Editor } from "../yaml/tree.js";
import type { Json } from "../yaml/scalar.js";
import { isPinned, pinnedCopies } from "./pin.js";
import {
  isPinnedTo,
  readsAttemptCount,
  rewriteRoute,
  slotSpecifier,
  type PriorityGroupRoute,
} from "./priority-group.js";
import { groupsOf, routeName } from "./settings.js";
import { shareCopies } from "./share-copies.js";
import { headerSelection } from "./slot-tree.js";

/** Writes the lowered routes of a virtual host, and the copies of them. */
export function writeVirtualHost(host: VirtualHost, routes: readonly PriorityGroupRoute[], editor: Editor): void {
  tellPinnedApart(routes);
  for (const route of routes) rewriteRoute(route, editor);
  addPinnedCopies(host, routes, editor);
  addShareCopies(host, routes, editor);
  const cursor = cursorAt(host.origin);
  if (!routes.some(readsAttemptCount) || cursor.map === undefined) return;
  if (host.includeRequestAttemptCount?.value === true) return;
  const before = cursor.field("routes") === undefined ? "matcher" : "routes";
  editor.set(cursor.map, "include_request_attempt_count", true, before);
}

/** A pinned copy is found by its route's name, so the name must lead to one route of the virtual host. */
function tellPinnedApart(routes: readonly PriorityGroupRoute[]): void {
  const uses = new Map<string, number>();
  for (const route of routes) {
    if (!isPinnedTo(route.delivery) || isPinned(route.route)) continue;
    const count = (uses.get(route.name) ?? 0) + 1;
    uses.set(route.name, count);
    if (count > 1) route.name = routeName(route.route.field("name")?.string(), route.settings, count - 1);
  }
}

function addPinnedCopies(host: VirtualHost, routes: readonly PriorityGroupRoute[], editor: Editor): void {
  const list = cursorAt(host.origin).field("routes")?.seq;
  for (const route of routes) {
    if (!isCopied(route) || list === undefined) continue;
    for (const copy of pinnedCopies(route, pinnedSelection(route))) editor.insertItem(list, 0, copy);
  }
}

/** Whether requests may take a pinned copy of a route in its place. */
export function isCopied({ route, delivery, settings }: PriorityGroupRoute): boolean {
  return isPinnedTo(delivery) && !isPinned(route) && groupsOf(settings).length > 0;
}

function pinnedSelection(route: PriorityGroupRoute): { [key: string]: Json } {
  if (route.delivery.kind === "headers") return headerSelection(route.slots.length);
  return { inline_cluster_specifier_plugin: slotSpecifier(route) };
}

function addShareCopies(host: VirtualHost, routes: readonly PriorityGroupRoute[], editor: Editor): void {
  const cursor = cursorAt(host.origin);
  const list = cursor.field("routes")?.seq;
  const split = routes.filter(({ shares }) => shares.length > 1);
  if (list === undefined || split.length === 0) return;
  const indexes = new Map(cursor.list("routes").map((route, index) => [route.offset, index]));
  for (const route of split) {
    const index = indexes.get(route.route.offset);
    if (index === undefined) continue;
    for (const copy of shareCopies(route)) editor.insertItem(list, index, copy);
  }
}
