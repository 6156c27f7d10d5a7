// The settings by which the module knows a chain.

import type { Cursor } from "../../yaml/cursor.js";
import { isMessage, type RouteSettings } from "../settings.js";
import { METADATA_NAMESPACE } from "../types.js";
import { subFields, type Configured, type Message } from "./configured.js";
import type { PlannedChain, SpecifierPlan } from "./planned.js";

/** The three levels of a chain, in the order in which they run. */
export type Levels = readonly [config?: Configured[], host?: Configured[], route?: Configured[]];

/**
 * The settings of a chain beside the route's own; the chain is added to the plan, to be checked. `resolved` is the route
 * that matching found; undefined: none.
 */
export function chainSettings(
  plan: SpecifierPlan,
  holder: Cursor,
  own: Message,
  [config = [], host = [], route = []]: Levels,
  slots: number,
  resolved?: Message,
): RouteSettings {
  const levels: PlannedChain["levels"] = { route_configuration: config, virtual_host: host, route };
  const lowered: Message = {};
  for (const [level, list] of Object.entries(levels)) {
    if (list.length > 0) lowered[level] = list.map(({ settings }: Configured) => settings);
  }
  if (resolved !== undefined) lowered["resolved"] = resolved;
  if (slots > 0) lowered["slots"] = slots;
  plan.chains.push({ holder, settings: { route_specifiers: lowered }, levels });
  return { ...own, route_specifiers: lowered };
}

/** The metadata of a message with the module's settings among them. */
export function withSettings(message: Message, settings: RouteSettings): Message {
  const metadata = subFields(message, "metadata");
  const filterMetadata = isMessage(metadata["filter_metadata"]) ? metadata["filter_metadata"] : {};
  return { ...metadata, filter_metadata: { ...filterMetadata, [METADATA_NAMESPACE]: settings } };
}
