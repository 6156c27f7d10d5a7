// What a route's metadata says of its attempts that Envoy has no field for.

import type { Message, Value } from "./origin.js";

/** Settings of a route, or else of its virtual host. */
export interface Picking {
  /** Whether an attempt passes over clusters without a host; priority groups do where it is true. */
  readonly skips: Value<boolean> | undefined;
  readonly coolDown: CoolDown | undefined;
}

/** A cluster is left out for a while after these answers. */
export interface CoolDown extends Message {
  readonly statuses: readonly number[];
  /** How many such answers in a row. */
  readonly consecutive: number;
  /** Milliseconds, times the number of ends that did not help. */
  readonly base: number;
  /** Milliseconds at most. */
  readonly max: number;
}

/** What `cool_down` means where it leaves something open. */
export const COOL_DOWN_DEFAULTS = { consecutive: 1, base: 10_000, max: 300_000 } as const;
