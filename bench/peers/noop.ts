// A module that does nothing when it is called for a request: the price of the call.

export function malloc(size: usize): usize {
  return heap.alloc(size);
}
export function proxy_abi_version_0_2_1(): void {}
export function proxy_on_request_headers(context: u32, headers: u32, endOfStream: bool): i32 {
  return 0;
}

/** The compiler's `abort` would be an import that no proxy has. */
export function abort(message: string | null, file: string | null, line: u32, column: u32): void {
  unreachable();
}
