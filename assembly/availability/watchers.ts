import { Composite } from "../decide/composite";

/** Milliseconds without a tick after which a root context counts as gone, besides its own interval. */
const GONE_AFTER: u64 = 3000;
/** Those that were seen within this time are kept when another one comes. */
const KEPT: u64 = 60_000;

/** A downstream root context: one configuration of a listener's module. */
@final
export class Watcher {
  /** Milliseconds between two of its ticks; 0: not known. */
  period: u32 = 0;

  constructor(
    readonly root: u32,
    readonly composites: StaticArray<Composite>,
    public seenAt: u64,
  ) {}

  isGone(now: u64): bool {
    return now - this.seenAt > GONE_AFTER + 2 * <u64>this.period;
  }
}

/**
 * The root contexts of a VM: of several listeners, and for a while those of configurations that were replaced. One of them
 * asks for all. A root context goes without a word, so another takes over where it does not tick any more.
 */
@final
export class Watchers {
  private all: Array<Watcher> = [];
  private asking: Watcher | null = null;

  /** The newest one asks. */
  add(watcher: Watcher): void {
    const all = this.all;
    this.all = [watcher];
    for (let i = 0; i < all.length; i++) {
      if (watcher.seenAt - all[i].seenAt < KEPT && all[i].root != watcher.root) this.all.push(all[i]);
    }
    this.asking = watcher;
  }

  /** The root context that ticks; null for one of another kind. */
  seen(root: u32, now: u64): Watcher | null {
    for (let i = 0; i < this.all.length; i++) {
      const watcher = this.all[i];
      if (watcher.root != root) continue;
      watcher.seenAt = now;
      return watcher;
    }
    return null;
  }

  /** Whether this one, which ticks, is the one that asks. */
  asks(watcher: Watcher, now: u64): bool {
    const asking = this.asking;
    if (asking == null || asking.isGone(now)) this.asking = watcher;
    return this.asking == watcher;
  }

  /** The one that asks ticks at another period than it knows, since a request asked for that. */
  expectOtherPeriod(): void {
    const asking = this.asking;
    if (asking != null) asking.period = 0;
  }
}
