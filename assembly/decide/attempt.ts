/**
 * Index of the group that an attempt uses: attempt n uses group n, past the end the last group repeats.
 *
 * Specification: priority groups, "Group selection". `attempt` counts from 1; `groups` is at least 1.
 */
export function groupIndex(attempt: u32, groups: i32): i32 {
  const index: u32 = attempt > 0 ? attempt - 1 : 0;
  return index < <u32>groups ? <i32>index : groups - 1;
}
