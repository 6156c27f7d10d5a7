// Says that this VM lives: one that has trapped is called no more, and nothing else in the proxy tells.

import { Counter } from "../host/counters";
import { Host } from "../host/host";

/** Milliseconds between two ticks of a VM that has nothing else to do. */
export const BEAT_MS: u32 = 1000;

const NS_PER_BEAT: u64 = 1_000_000_000;

let last: u64 = 0;

/** Counts once a second, however often it is called. */
export function beat(host: Host): void {
  const second = host.now() / NS_PER_BEAT;
  if (second == last) return;
  last = second;
  host.increment(Counter.HEARTBEATS);
}
