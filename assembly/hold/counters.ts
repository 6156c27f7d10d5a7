/** The counters of holding, readable as `wasmcustom.attempt_router.<name>`. docs/counters.md says what each one means. */
export namespace HoldCounter {
  export const SETTINGS_ERROR: i32 = 0;
  export const ERROR: i32 = 1;
  export const EMPTY: i32 = 2;
  export const TOO_LARGE: i32 = 3;
  export const ENCODED: i32 = 4;
  export const RESTORED: i32 = 5;
}

/** Names by counter. */
export const HOLD_COUNTER_NAMES: StaticArray<string> = [
  "attempt_router.settings_error",
  "attempt_router.held_error",
  "attempt_router.held_empty",
  "attempt_router.held_too_large",
  "attempt_router.held_encoded",
  "attempt_router.held_given_back",
];
