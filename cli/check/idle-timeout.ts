import type { ConnectionManager, Message, RouteAction } from "../model/index.js";

const DEFAULT_MS = 300_000;

/** The idle time-out of a route's streams in milliseconds, 0 where there is none, and what sets it; the shortest of several. */
export function idleTimeoutOf(
  { idleTimeout }: RouteAction,
  managers: readonly ConnectionManager[],
): { value: number; at: Message | undefined } {
  const set = idleTimeout === undefined ? managers.map((manager) => manager.streamIdleTimeout) : [idleTimeout];
  const all = (set.length === 0 ? [undefined] : set).map((one) => ({ value: one?.value ?? DEFAULT_MS, at: one }));
  const ended = all.filter(({ value }) => value > 0).sort((a, b) => a.value - b.value);
  return ended[0] ?? all[0] ?? { value: DEFAULT_MS, at: undefined };
}
