// Memory for what the host hands over. The host asks for it through `malloc` while one of the module's own host calls
// is running, writes the value there, and the module gives it back through `release`.

// Most values (route names, header values) fit here, so that the common request allocates nothing.
const SCRATCH_SIZE: i32 = 4096;
const scratch: usize = memory.data(SCRATCH_SIZE);
let scratchTaken = false;

/** Exported to the host. `size` in bytes; the memory is the module's to `release`. */
export function malloc(size: usize): usize {
  if (!scratchTaken && size <= <usize>SCRATCH_SIZE) {
    scratchTaken = true;
    return scratch;
  }
  return heap.alloc(size);
}

/** Gives back what the host allocated. 0 is a value without memory. */
export function release(ptr: usize): void {
  if (ptr == scratch) scratchTaken = false;
  else if (ptr != 0) heap.free(ptr);
}
