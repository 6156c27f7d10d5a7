import type { Admin } from "../../tools/envoy/admin.js";

/** The listener that `lower` adds where the module has to know which clusters have a host. */
export const PROBE_LISTENER = "attempt_router_probe";

const ROUNDS = "wasmcustom.attempt_router.availability_rounds";

/**
 * Waits until the module of a single worker has begun and ended a round of questions from now on, so that it knows
 * whatever Envoy knew when this was called.
 */
export async function awaitRound(admin: Admin): Promise<void> {
  const before = await admin.stat(ROUNDS);
  await admin.waitForStat(ROUNDS, (rounds) => rounds >= before + 2);
}
