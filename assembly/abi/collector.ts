// When garbage is collected. The runtime is "minimal": nothing is collected, and no reference is tracked, while the module
// runs. Between callbacks none of its functions is on the stack, so the globals are all the roots there are.

import { OBJECT, TOTAL_OVERHEAD } from "rt/common";

/** Callbacks between two looks at what was allocated. */
const LOOK_EVERY: u32 = 64;
/** Bytes that are allocated at least before garbage is worth collecting. */
const MIN_GARBAGE: usize = 1 << 20;
/** Bits of `OBJECT.gcInfo` that are no part of the next object's address. */
const COLOR_MASK: usize = 3;

/**
 * Counts what was allocated, other than by a census. The runtime keeps its objects in a ring, in the order of their allocation; an object of the
 * census's own marks the place up to which it has counted.
 */
@final
export class Census {
  /** Objects and bytes (headers included) that the last `take` found. */
  objects: u32 = 0;
  bytes: usize = 0;

  private marker: Marker = new Marker();
  private end: usize = 0;

  constructor() {
    this.mark();
  }

  /** Counts what was allocated since the place was marked, and marks it anew. Where that is nothing, it allocates nothing. */
  take(): void {
    this.count(nextOf(changetype<usize>(this.marker)));
    if (this.objects > 0) this.mark();
  }

  /** Counts everything that is alive, and marks the end of it. To be called after a collection, which reorders the ring. */
  takeAll(): void {
    this.mark();
    this.count(nextOf(this.end));
  }

  private mark(): void {
    this.marker = new Marker();
    // Behind the newest object comes the ring's own head.
    this.end = nextOf(changetype<usize>(this.marker));
  }

  private count(object: usize): void {
    this.objects = 0;
    this.bytes = 0;
    for (; object != this.end; object = nextOf(object)) {
      if (headerOf(object).rtId == idof<Marker>()) continue;
      this.objects++;
      this.bytes += TOTAL_OVERHEAD + <usize>headerOf(object).rtSize;
    }
  }
}

@final
class Marker {}

const census = new Census();
let callbacks: u32 = 0;
let pages: i32 = memory.size();
let allocated: usize = 0;
let threshold: usize = MIN_GARBAGE;
let depth: i32 = 0;

/** A callback of the proxy begins. */
export function enter(): void {
  depth++;
}

/** A callback of the proxy ends: nothing managed is on the stack, and garbage may go. Costs a few instructions. */
export function leave(): void {
  if (--depth > 0) return;
  if (++callbacks % LOOK_EVERY != 0 && memory.size() == pages) return;
  pages = memory.size();
  census.take();
  allocated += census.bytes;
  if (allocated >= threshold) collect();
}

function collect(): void {
  __collect();
  allocated = 0;
  census.takeAll();
  threshold = max(MIN_GARBAGE, census.bytes);
}

function nextOf(object: usize): usize {
  return ((<usize>headerOf(object).gcInfo) & ~COLOR_MASK) + TOTAL_OVERHEAD;
}

function headerOf(object: usize): OBJECT {
  return changetype<OBJECT>(object - TOTAL_OVERHEAD);
}
