/** Stream contexts that are told apart; ids count up, so these are the newest. */
const REMEMBERED: u32 = 1 << 16;

/**
 * Which streams' responses the module has work for. The proxy calls for every response; for all but a few the answer is
 * no, and is known here without asking the proxy anything. One bit per context: nothing has to be cleaned up where a
 * stream ends without a response.
 */
@final
export class AwaitedResponses {
  private bits: StaticArray<u32> = new StaticArray<u32>(REMEMBERED / 32);
  private newest: u32 = 0;

  /** A context begins; it awaits nothing. */
  begin(context: u32): void {
    const index = context % REMEMBERED >> 5;
    unchecked((this.bits[index] &= ~(1 << (context & 31))));
    this.newest = context;
  }

  expect(context: u32): void {
    const index = context % REMEMBERED >> 5;
    unchecked((this.bits[index] |= 1 << (context & 31)));
  }

  /** Whether a context is so old that its bit stands for another one. */
  isForgotten(context: u32): bool {
    return this.newest - context >= REMEMBERED;
  }

  has(context: u32): bool {
    return (unchecked(this.bits[context % REMEMBERED >> 5]) & (1 << (context & 31))) != 0;
  }
}
