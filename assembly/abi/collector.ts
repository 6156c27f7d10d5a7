// When garbage is collected. The runtime is "minimal": nothing is collected, and no reference is tracked, while the module
// runs. Between callbacks none of its functions is on the stack, so the globals are all the roots there are.

import { OBJECT, TOTAL_OVERHEAD } from "rt/common";

/** Callbacks between two looks at what was allocated. */
const LOOK_EVERY: u32 = 64;
/** Bytes that are allocated at least before garbage is worth collecting. */
const MIN_GARBAGE: usize = 1 << 20;

/** What the runtime's list of objects, in the order of their allocation, is cut by. */
@final
class Marker {}

let marker = new Marker();
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
  allocated += sizeSinceMarker();
  if (allocated >= threshold) collect();
}

function collect(): void {
  __collect();
  allocated = 0;
  threshold = max(MIN_GARBAGE, liveSize());
  // The collector has changed the order of the list.
  marker = new Marker();
}

// Bytes allocated since the last look, from the newest object back to the marker, which moves to the front.
function sizeSinceMarker(): usize {
  const old = changetype<usize>(marker);
  const newest = new Marker();
  marker = newest;
  return sizeBetween(changetype<usize>(newest), old);
}

// Bytes of all objects: the list is a ring.
function liveSize(): usize {
  const newest = changetype<usize>(new Marker());
  return sizeBetween(newest, newest);
}

function sizeBetween(newest: usize, end: usize): usize {
  let size: usize = 0;
  let object = newest;
  do {
    size += TOTAL_OVERHEAD + <usize>headerOf(object).rtSize;
    // `gcInfo2` of an object is the address of the header before it.
    object = <usize>headerOf(object).gcInfo2 + TOTAL_OVERHEAD;
  } while (object != end);
  return size;
}

function headerOf(object: usize): OBJECT {
  return changetype<OBJECT>(object - TOTAL_OVERHEAD);
}
