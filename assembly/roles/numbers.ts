import { Bytes, View } from "../bytes";
import { Host } from "../host/host";
import { ATTEMPT_COUNT_ATTRIBUTE } from "../host/names";
import { writeState } from "./slots";

const value = new View();
const bytes: Bytes = new StaticArray<u8>(8);

/** Number of the attempt (1, 2, …) that the upstream role is called for. */
export function attemptOf(host: Host): u32 {
  return <u32>readNumber(host, ATTEMPT_COUNT_ATTRIBUTE);
}

/** Writes filter state that `readNumber` reads. */
export function writeNumber(host: Host, key: Bytes, number: u64): void {
  store<u64>(changetype<usize>(bytes), number);
  value.setBytes(bytes);
  writeState(host, key, value);
}

/** A 64-bit attribute or filter state; 0 where it is absent. */
export function readNumber(host: Host, path: Bytes): u64 {
  if (!host.property(path, value)) return 0;
  const number = value.length == 8 ? load<u64>(value.ptr) : 0;
  host.release(value);
  return number;
}
