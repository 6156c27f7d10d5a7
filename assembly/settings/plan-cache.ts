import { RoutePlan } from "../route/route-plan";

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

  /** Whether `id` (not 0) has an entry, which is then in `plan`. */
  find(id: u64): bool {
    let index = this.newer.indexOf(id);
    if (unchecked(this.newer.ids[index]) == id) {
      this.plan = unchecked(this.newer.plans[index]);
      return true;
    }
    const older = this.older;
    index = older.indexOf(id);
    if (unchecked(older.ids[index]) != id) return false;
    this.plan = unchecked(older.plans[index]);
    this.keep(id, this.plan, unchecked(older.sizes[index]));
    return true;
  }

  /** Adds an entry that was made of `bytes` bytes of settings. */
  add(id: u64, plan: RoutePlan | null, bytes: u32): void {
    this.keep(id, plan, bytes + OVERHEAD);
  }

  private keep(id: u64, plan: RoutePlan | null, size: u32): void {
    if (this.newer.size + size > MAX_BYTES / 2) {
      this.older = this.newer;
      this.newer = new Half();
    }
    this.newer.add(id, plan, size);
  }
}

/** An open-addressed table. */
@final
class Half {
  size: u32 = 0;
  ids: StaticArray<u64> = new StaticArray<u64>(FIRST_CAPACITY);
  plans: StaticArray<RoutePlan | null> = new StaticArray<RoutePlan | null>(FIRST_CAPACITY);
  sizes: StaticArray<u32> = new StaticArray<u32>(FIRST_CAPACITY);

  private count: i32 = 0;

  // The place of `id`: where it is, or the free place where it belongs. Ids are hashes, so their low bits are spread.
  indexOf(id: u64): i32 {
    const ids = this.ids;
    const mask = ids.length - 1;
    let index = (<i32>id) & mask;
    while (unchecked(ids[index]) != 0 && unchecked(ids[index]) != id) index = (index + 1) & mask;
    return index;
  }

  add(id: u64, plan: RoutePlan | null, size: u32): void {
    if (this.count * 2 >= this.ids.length) this.grow();
    this.put(id, plan, size);
  }

  private put(id: u64, plan: RoutePlan | null, size: u32): void {
    const index = this.indexOf(id);
    if (this.ids[index] == id) this.size -= this.sizes[index];
    else this.count++;
    this.size += size;
    this.ids[index] = id;
    this.plans[index] = plan;
    this.sizes[index] = size;
  }

  private grow(): void {
    const ids = this.ids;
    const plans = this.plans;
    const sizes = this.sizes;
    const capacity = 2 * ids.length;
    this.ids = new StaticArray<u64>(capacity);
    this.plans = new StaticArray<RoutePlan | null>(capacity);
    this.sizes = new StaticArray<u32>(capacity);
    this.size = 0;
    this.count = 0;
    for (let i = 0; i < ids.length; i++) {
      if (ids[i] != 0) this.put(ids[i], plans[i], sizes[i]);
    }
  }
}
