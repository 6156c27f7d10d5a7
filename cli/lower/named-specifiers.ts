import type { Finding } from "../findings.js";
import type { RouteConfiguration } from "../model/route.js";
import { cursorAt } from "../read/place.js";
import { pairOf } from "../yaml/edit.js";
import type { Editor } from "../yaml/tree.js";
import type { CompositeContext } from "./composite-route.js";
import { UNUSED } from "./prepare.js";
import { prepareRoute, specifierUse, type PreparedRoute } from "./priority-group.js";

/**
 * Takes the named priority-group specifiers out of a route configuration: no route uses them any more, and Envoy before
 * 1.40 does not know their type. Returns those that no route used, which must be valid all the same.
 * @param used Offsets of the specifiers that routes use.
 */
export function removeNamedSpecifiers(
  config: RouteConfiguration,
  used: ReadonlySet<number>,
  context: CompositeContext,
  editor: Editor,
  findings: Finding[],
): PreparedRoute[] {
  const { map } = cursorAt(config.origin);
  const list = cursorAt(config.origin).field(FIELD);
  const removed = config.plugins.flatMap(({ attempts }, index) => (attempts === undefined ? [] : [index]));
  const unused = removed.flatMap((index) => {
    const plugin = config.plugins[index];
    if (plugin?.attempts === undefined) return [];
    const use = specifierUse(plugin.attempts);
    if (used.has(use.specifier.offset)) return [];
    return [prepareRoute(cursorAt(plugin.origin), undefined, use, UNUSED, context, findings)];
  });
  if (removed.length === 0 || map === undefined || list?.seq === undefined) return unused;
  const pair = pairOf(map, FIELD);
  if (removed.length < config.plugins.length) editor.removeItems(list.seq, new Set(removed));
  else if (pair !== undefined) editor.removePair(map, pair);
  return unused;
}

const FIELD = "cluster_specifier_plugins";
