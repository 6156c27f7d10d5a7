// Headers that a client may send and that only this proxy may write: the attempt count, by which a lowered route tells its
// slots apart, and those that carry the picks. They are removed before the route is first resolved: a pick then hangs on
// nothing that came from outside, and a route need not be resolved anew because of it, with the module or without.

import type { ConnectionManager } from "../model/program.js";
import type { RouteConfiguration } from "../model/route.js";
import { cursorAt } from "../read/place.js";
import type { Cursor } from "../yaml/cursor.js";
import type { Editor } from "../yaml/tree.js";
import type { Json } from "../yaml/scalar.js";
import { someScalar } from "../yaml/walk.js";
import { changeItems } from "./lists.js";
import type { PlanOptions } from "./options.js";
import { readsAttemptCount, type PriorityGroupRoute } from "./priority-group.js";
import { ATTEMPT_COUNT_HEADER, OWN_HEADERS, TYPE } from "./types.js";

const EXTENSIONS = "early_header_mutation_extensions";
const INTERNAL_ONLY = "internal_only_headers";
const NAME = "attempt_router_client_headers";

/** Whether anything in a file but a log looks at the attempt count, which may then have to be the client's. */
export function usesAttemptCount(root: Cursor): boolean {
  const names = (value: unknown): boolean =>
    typeof value === "string" &&
    value.length >= ATTEMPT_COUNT_HEADER.length &&
    value.toLowerCase().includes(ATTEMPT_COUNT_HEADER);
  return someScalar(root.source, "access_log", names);
}

/**
 * Has a connection manager remove the attempt count, and all headers of ours where `routes` read them. `mayRead`: routes
 * that are not among `routes` may read the count, too.
 */
export function removeInManager(
  manager: ConnectionManager,
  routes: readonly PriorityGroupRoute[],
  mayRead: boolean,
  options: PlanOptions,
  editor: Editor,
): void {
  if (!options.attemptHeader || !removes(options, routes, mayRead)) return;
  const cursor = cursorAt(manager.origin);
  if (cursor.list(EXTENSIONS).some((extension) => extension.field("name")?.string() === NAME)) return;
  const all = routes.some(({ delivery }) => delivery.kind === "headers");
  const own: Json[] = all ? [{ remove_on_match: { key_matcher: { prefix: OWN_HEADERS } } }] : [];
  const mutations = [{ remove: ATTEMPT_COUNT_HEADER }, ...own];
  const extension = { name: NAME, typed_config: { "@type": TYPE.earlyHeaderMutation, mutations } };
  changeItems(cursor, EXTENSIONS, new Set(), [extension], editor, "http_filters");
}

/**
 * Has whatever connection manager takes these routes remove the attempt count. Requests that its `internal_address_config`
 * calls internal keep it, so where the connection manager is known {@link removeInManager} does it.
 */
export function removeInRoutes(
  config: RouteConfiguration,
  routes: readonly PriorityGroupRoute[],
  options: PlanOptions,
  editor: Editor,
): void {
  if (!removes(options, routes, false)) return;
  const cursor = cursorAt(config.origin);
  if (cursor.list(INTERNAL_ONLY).some((name) => name.string()?.toLowerCase() === ATTEMPT_COUNT_HEADER)) return;
  changeItems(cursor, INTERNAL_ONLY, new Set(), [ATTEMPT_COUNT_HEADER], editor, "virtual_hosts");
}

function removes(options: PlanOptions, routes: readonly PriorityGroupRoute[], mayRead: boolean): boolean {
  return options.removesAttemptCount && (mayRead || routes.some(readsAttemptCount));
}
