import { setTimeout as pause } from "node:timers/promises";

const POLL_MS = 5;

/**
 * Polls `probe` until it gives something other than undefined or false, and returns that.
 * @param what names the condition in the error.
 * @throws Error when `timeoutMs` passes first; a rejected probe counts as "not yet" and is the error's cause.
 */
export async function waitFor<T>(
  what: string,
  probe: () => T | undefined | false | Promise<T | undefined | false>,
  timeoutMs = 10_000,
): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  let cause: unknown;
  do {
    try {
      const value = await probe();
      if (value !== undefined && value !== false) return value;
    } catch (error) {
      cause = error;
    }
    await pause(POLL_MS);
  } while (Date.now() < deadline);
  throw new Error(`timed out after ${timeoutMs} ms waiting for ${what}`, { cause });
}
