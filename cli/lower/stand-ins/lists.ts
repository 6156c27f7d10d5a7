// Which clusters an attempt goes through where the picked one has no host: the rest of its group in the order of the list, then
// the groups behind it.

import type { PriorityGroup } from "../../model/attempts.js";
import type { Picking } from "../../model/picking.js";

/** Whether attempts pass over clusters without a healthy host. */
export function passesOver({ skips, coolDown }: Picking): boolean {
  return skips?.value === true || coolDown !== undefined;
}

/** The clusters of an attempt by group (0, 1, …) and pick, the pick first. */
export function clustersFrom(groups: readonly PriorityGroup[], index: number, pick: string): string[] {
  const names = groups.slice(index).flatMap(({ clusters }) => clusters.map(({ name }) => name.value));
  return [...new Set([pick, ...names])];
}
