/** Milliseconds without anything new after which asking slows down. */
const CALM_MS: u64 = 5000;

/** How often it is asked: fast while something changes or a request waits for an answer, slowly at rest. */
@final
export class Pace {
  /** Whether nothing has changed for some seconds. */
  isCalm: bool = false;
  private isWoken: bool = true;
  private changedAt: u64 = 0;

  /** Something has changed, or is waited for. Whether it was calm before. */
  wake(): bool {
    const wasCalm = this.isCalm;
    this.isWoken = true;
    this.isCalm = false;
    return wasCalm;
  }

  /** Takes the time of a tick, in milliseconds. */
  tick(now: u64): void {
    if (this.isWoken) this.changedAt = now;
    this.isWoken = false;
    this.isCalm = now - this.changedAt >= CALM_MS;
  }
}
