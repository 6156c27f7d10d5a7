// The route specifiers of one level.

import type { JsonMessage, Message, Value } from "./origin.js";

/** One entry of a `route_specifiers` list. */
export interface Specifier extends Message {
  readonly name: Value<string> | undefined;
  /** Of the package `attempt_router.v1` without it, as `RouteOverride`; another type's whole URL; "" where there is none. */
  readonly type: string;
  /** `typed_config` in snake_case, without its `@type`. */
  readonly config: JsonMessage;
  /** What has to hold for the specifier to apply; absent: always. */
  readonly when: Value<JsonMessage> | undefined;
  readonly final: boolean;
}

export type Specifiers = readonly Specifier[];
