import type { Json } from "../yaml/scalar.js";
import { snakeCase, type Cursor } from "../yaml/cursor.js";
import type { PriorityGroupRoute } from "./priority-group.js";
import { isMessage } from "./settings.js";

export type Message = { [key: string]: Json };

/** The fields that the slots stand in for. */
const SPECIFIERS = ["inline_cluster_specifier_plugin", "cluster_specifier_plugin", "cluster", "weighted_clusters"];

/** A message with the names of its own fields in snake_case; what is inside them stays as written. */
export function message(cursor: Cursor): Message {
  const entries = cursor.entries().map(({ key, value }) => [snakeCase(key), value.json()] as const);
  return Object.fromEntries(entries);
}

export function submessage(parent: Message, field: string): Message {
  const value = parent[field];
  if (!isMessage(value)) return {};
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [snakeCase(key), item]));
}

export function without(from: Message, fields: string[]): Message {
  return Object.fromEntries(Object.entries(from).filter(([key]) => !fields.includes(key)));
}

/** The action of a copy of a lowered route: the original's with `selection` in the place of its specifier. */
export function routeAction(planned: PriorityGroupRoute, action: Message, selection: Message): Message {
  return {
    ...selection,
    ...without(action, SPECIFIERS),
    ...(planned.retryPolicy === undefined ? {} : { retry_policy: planned.retryPolicy }),
  };
}
