import { RoutePlan } from "../route/route-plan";

/** Routes that are kept at most; a proxy that shows more of them over time starts over. */
const MAX_ENTRIES = 1 << 16;
const FIRST_CAPACITY = 16;

/**
 * Plans by settings id, an open-addressed table. A route whose settings are wrong has an entry without a plan, so that
 * they are read, counted and logged once.
 */
@final
export class PlanCache {
  /** What the last successful `find` found; null where the route's settings are wrong. */
  plan: RoutePlan | null = null;

  private ids: StaticArray<u64> = new StaticArray<u64>(FIRST_CAPACITY);
  private plans: StaticArray<RoutePlan | null> = new StaticArray<RoutePlan | null>(FIRST_CAPACITY);
  private size: i32 = 0;

  /** Whether `id` (not 0) has an entry, which is then in `plan`. */
  find(id: u64): bool {
    const index = this.indexOf(id);
    if (unchecked(this.ids[index]) != id) return false;
    this.plan = unchecked(this.plans[index]);
    return true;
  }

  add(id: u64, plan: RoutePlan | null): void {
    if (this.size == MAX_ENTRIES) this.resize(FIRST_CAPACITY, false);
    else if (this.size * 2 >= this.ids.length) this.resize(this.ids.length * 2, true);
    this.put(id, plan);
  }

  private put(id: u64, plan: RoutePlan | null): void {
    const index = this.indexOf(id);
    if (this.ids[index] != id) this.size++;
    this.ids[index] = id;
    this.plans[index] = plan;
  }

  // The place of `id`: where it is, or the free place where it belongs. Ids are hashes, so their low bits are spread.
  private indexOf(id: u64): i32 {
    const ids = this.ids;
    const mask = ids.length - 1;
    let index = (<i32>id) & mask;
    while (unchecked(ids[index]) != 0 && unchecked(ids[index]) != id) index = (index + 1) & mask;
    return index;
  }

  private resize(capacity: i32, keep: bool): void {
    const ids = this.ids;
    const plans = this.plans;
    this.ids = new StaticArray<u64>(capacity);
    this.plans = new StaticArray<RoutePlan | null>(capacity);
    this.size = 0;
    if (!keep) return;
    for (let i = 0; i < ids.length; i++) {
      if (ids[i] != 0) this.put(ids[i], plans[i]);
    }
  }
}
