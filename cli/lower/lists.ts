import type { Cursor } from "../yaml/cursor.js";
import type { Editor } from "../yaml/tree.js";
import type { Json } from "../yaml/scalar.js";

/** Takes items out of the list `key` of a message and puts others in; makes the list, before a field, where there is none. */
export function changeItems(
  holder: Cursor,
  key: string,
  removed: ReadonlySet<number>,
  added: readonly Json[],
  editor: Editor,
  before?: string,
): void {
  if (holder.map === undefined) return;
  const list = holder.field(key);
  const items = list?.items() ?? [];
  if (list?.seq === undefined || items.length === removed.size) {
    const kept = items.filter((_, index) => !removed.has(index)).map((item) => item.json());
    editor.set(holder.map, key, [...kept, ...added], before);
    return;
  }
  if (removed.size > 0) editor.removeItems(list.seq, removed);
  // Where the last items go, the text after them goes too.
  const at = removed.has(items.length - 1) ? items.findLastIndex((_, index) => !removed.has(index)) : items.length;
  for (const item of added) editor.insertItem(list.seq, at, item);
}
