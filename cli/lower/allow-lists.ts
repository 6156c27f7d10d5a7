import { isMap, isScalar, isSeq, visit, type YAMLMap, type YAMLSeq } from "yaml";
import { Cursor } from "../yaml/cursor.js";
import { pairOf } from "../yaml/edit.js";
import type { Editor, Tree } from "../yaml/tree.js";
import { findResources, routesOf } from "../read/resources.js";
import { originalName } from "./settings.js";
import { METADATA_NAMESPACE, TYPE } from "./types.js";

const LIST = "allowed_route_names";

/**
 * What lets every list, in a lowered file, of the routes that an internal redirect may lead to name the lowered routes,
 * too, whose original names it has; undefined where there is nothing to add.
 */
export function nameLoweredRoutes(source: Tree): Editor | undefined {
  const lists = allowLists(source);
  if (lists.length === 0) return undefined;
  const lowered = loweredNames(Cursor.root(source));
  const editor = source.edit();
  for (const list of lists) addNames(source, list, lowered, editor);
  return editor.isEmpty ? undefined : editor;
}

/** The type of such a list. */
export const LIST_TYPE = TYPE.allowListedRoutes.split("/").at(-1) ?? "";

/** Names of the lowered routes of a file by what they were called before. */
function loweredNames(root: Cursor): Map<string, Set<string>> {
  const names = new Map<string, Set<string>>();
  const resources = findResources(root, []);
  const managed = resources?.connectionManagers.flatMap(({ routeConfigs }) => routeConfigs) ?? [];
  for (const { config } of [...managed, ...(resources?.looseRouteConfigs ?? [])]) {
    for (const route of config.list("virtual_hosts").flatMap(routesOf)) {
      const name = route.field("name")?.string() ?? "";
      if (route.at("metadata", "filter_metadata", METADATA_NAMESPACE) === undefined) continue;
      const original = originalName(name);
      if (original !== name) names.set(original, (names.get(original) ?? new Set()).add(name));
    }
  }
  return names;
}

/** The lists, wherever they stand; one that aliases share is met once. */
function allowLists(source: Tree): YAMLSeq[] {
  const lists = new Set<YAMLSeq>();
  visit(source.root, {
    Map: (_, map) => {
      const list = isAllowList(map) ? source.resolve(pairOf(map, LIST)?.value) : undefined;
      if (isSeq(list)) lists.add(list);
    },
  });
  return [...lists];
}

function isAllowList(map: YAMLMap): boolean {
  const type = map.items.find(({ key }) => isScalar(key) && key.value === "@type")?.value;
  return isMap(map) && isScalar(type) && String(type.value).endsWith(`/${LIST_TYPE}`);
}

function addNames(
  source: Tree,
  list: YAMLSeq,
  lowered: ReadonlyMap<string, ReadonlySet<string>>,
  editor: Editor,
): void {
  const items = list.items.map((item) => new Cursor(source, item, "", 0).string() ?? "");
  const added = new Set(items.flatMap((name) => [...(lowered.get(name) ?? [])]));
  for (const name of added) if (!items.includes(name)) editor.insertItem(list, list.items.length, name);
}
