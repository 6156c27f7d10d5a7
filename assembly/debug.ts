// The debug build: the module, with a way to make it trap on purpose and one to count what it allocates, for tests.

import { Census } from "./abi/collector";
import { proxy_get_header_map_value } from "./abi/imports";
import { release } from "./abi/memory";
import { encode } from "./bytes";
import { proxy_on_request_headers as onRequestHeaders } from "./index";

export {
  malloc,
  proxy_abi_version_0_2_1,
  proxy_on_configure,
  proxy_on_context_create,
  proxy_on_http_call_response,
  proxy_on_response_headers,
  proxy_on_tick,
  proxy_on_vm_start,
} from "./index";

const TRAP_HEADER = encode("x-attempt-router-trap");
const result: usize = memory.data(2 * sizeof<usize>());

const census = new Census();

/** Objects that were allocated since the last call; their bytes are then what `allocatedBytes` says. */
export function allocatedObjects(): u32 {
  census.take();
  return census.objects;
}

export function allocatedBytes(): usize {
  return census.bytes;
}

export function proxy_on_request_headers(context: u32, headers: u32, endOfStream: bool): i32 {
  const name = TRAP_HEADER;
  if (proxy_get_header_map_value(0, changetype<usize>(name), name.length, result, result + sizeof<usize>()) == 0) {
    release(load<usize>(result));
    throw new Error("asked to trap");
  }
  return onRequestHeaders(context, headers, endOfStream);
}
