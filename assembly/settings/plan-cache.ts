import { RoutePlan } from "../route/route-plan";
import { SettingsId } from "./settings-id";

/**
 * Bytes of settings that are kept at most. The plans made of them are up to three times as large, and as much again is
 * garbage before it is collected.
 */
const MAX_BYTES: u32 = 16 << 20;
/** What a plan takes besides its settings, and the place for one that is none. */
const OVERHEAD: u32 = 256;
const FIRST_CAPACITY = 16;

/**
 * Plans by settings id. A route whose settings are wrong has an entry without a plan, so that they are read, counted and
 * logged once.
 *
 * Plans are kept in two halves. When the newer half is full, the older one is dropped, and the newer one becomes the older:
 * what was not used for that long is read again. A plan that is found in the older half moves to the newer one.
 */
@final
export class PlanCache {
  /** What the last successful `find` found; null where the route's settings are wrong. */
  plan: RoutePlan | null = null;

  private newer: Half = new Half();
  private older: Half = new Half();

  /** Whether `id` has an entry, which is then in `plan`. */
  find(id: SettingsId): bool {
    let index = this.newer.indexOf(id.low, id.high);
    if (!this.newer.isFree(index)) {
      this.plan = unchecked(this.newer.plans[index]);
      return true;
    }
    const older = this.older;
    index = older.indexOf(id.low, id.high);
    if (older.isFree(index)) return false;
    this.plan = unchecked(older.plans[index]);
    this.keep(id, this.plan, unchecked(older.sizes[index]));
    return true;
  }

  /** Adds an entry that was made of `bytes` bytes of settings. */
  add(id: SettingsId, plan: RoutePlan | null, bytes: u32): void {
    this.keep(id, plan, bytes + OVERHEAD);
  }

  private keep(id: SettingsId, plan: RoutePlan | null, size: u32): void {
    if (this.newer.size + size > MAX_BYTES / 2) {
      this.older = this.newer;
      this.newer = new Half();
    }
    this.newer.add(id.low, id.high, plan, size);
  }
}

/** An open-addressed table. */
@final
class Half {
  size: u32 = 0;
  // The two halves of each id; both are 0 where a place is free.
  lows: StaticArray<u64> = new StaticArray<u64>(FIRST_CAPACITY);
  highs: StaticArray<u64> = new StaticArray<u64>(FIRST_CAPACITY);
  plans: StaticArray<RoutePlan | null> = new StaticArray<RoutePlan | null>(FIRST_CAPACITY);
  sizes: StaticArray<u32> = new StaticArray<u32>(FIRST_CAPACITY);

  private count: i32 = 0;

  isFree(index: i32): bool {
    return (unchecked(this.lows[index]) | unchecked(this.highs[index])) == 0;
  }

  // The place of an id: where it is, or the free place where it belongs. Ids are hashes, so their low bits are spread.
  indexOf(low: u64, high: u64): i32 {
    const mask = this.lows.length - 1;
    let index = (<i32>low) & mask;
    while (!this.isFree(index) && (unchecked(this.lows[index]) != low || unchecked(this.highs[index]) != high)) {
      index = (index + 1) & mask;
    }
    return index;
  }

  add(low: u64, high: u64, plan: RoutePlan | null, size: u32): void {
    if (this.count * 2 >= this.lows.length) this.grow();
    this.put(low, high, plan, size);
  }

  private put(low: u64, high: u64, plan: RoutePlan | null, size: u32): void {
    const index = this.indexOf(low, high);
    if (this.isFree(index)) this.count++;
    else this.size -= this.sizes[index];
    this.size += size;
    this.lows[index] = low;
    this.highs[index] = high;
    this.plans[index] = plan;
    this.sizes[index] = size;
  }

  private grow(): void {
    const lows = this.lows;
    const highs = this.highs;
    const plans = this.plans;
    const sizes = this.sizes;
    const capacity = 2 * lows.length;
    this.lows = new StaticArray<u64>(capacity);
    this.highs = new StaticArray<u64>(capacity);
    this.plans = new StaticArray<RoutePlan | null>(capacity);
    this.sizes = new StaticArray<u32>(capacity);
    this.size = 0;
    this.count = 0;
    for (let i = 0; i < lows.length; i++) {
      if ((lows[i] | highs[i]) != 0) this.put(lows[i], highs[i], plans[i], sizes[i]);
    }
  }
}
