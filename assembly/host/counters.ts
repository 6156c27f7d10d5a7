/** The module's counters, readable as `wasmcustom.attempt_router.<name>`. docs/counters.md says what each one means. */
export namespace Counter {
  export const SETTINGS_ERROR: i32 = 0;
  export const RANDOM_HEADER_INVALID: i32 = 1;
  export const CLIENT_ATTEMPT_COUNT_REMOVED: i32 = 2;
  export const SLOT_WRITE_FAILED: i32 = 3;
  export const OVERRIDE_INVALID: i32 = 4;
  export const OVERRIDE_GROUP_INVALID: i32 = 5;
  export const AVAILABILITY_UNKNOWN: i32 = 6;
  export const AVAILABILITY_ROUNDS: i32 = 7;
  export const AVAILABILITY_LOST: i32 = 8;
  export const AVAILABILITY_SIGNAL: i32 = 9;
  export const CLUSTER_HAS_HOST: i32 = 10;
  export const CLUSTER_WITHOUT_HOST: i32 = 11;
  export const HEARTBEATS: i32 = 12;
}

/** Names by counter. */
export const COUNTER_NAMES: StaticArray<string> = [
  "attempt_router.settings_error",
  "attempt_router.random_header_invalid",
  "attempt_router.client_attempt_count_removed",
  "attempt_router.slot_write_failed",
  "attempt_router.override_invalid",
  "attempt_router.override_group_invalid",
  "attempt_router.availability_unknown",
  "attempt_router.availability_rounds",
  "attempt_router.availability_lost",
  "attempt_router.availability_signal",
  "attempt_router.cluster_has_host",
  "attempt_router.cluster_without_host",
  "attempt_router.heartbeats",
];
