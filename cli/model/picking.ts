// What a route's metadata says of its attempts that Envoy has no field for.

import type { Value } from "./origin.js";

/** Settings of a route, or else of its virtual host. */
export interface Picking {
  /** Whether an attempt passes over clusters without a host; priority groups do where it is true. */
  readonly skips: Value<boolean> | undefined;
}
