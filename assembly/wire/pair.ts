import { View } from "../bytes";
import { Cursor } from "./cursor";

const field = new Cursor();

/**
 * Reads a message of two length-delimited fields, 1 and 2, in place: a map entry's key and value, an Any's type URL and
 * message. A field that is absent is empty, of one that comes twice the last counts. False where the bytes are malformed.
 */
export function readPair(ptr: usize, length: i32, first: View, second: View): bool {
  first.set(0, 0);
  second.set(0, 0);
  field.reset(ptr, length);
  while (field.next()) {
    if (field.isBytes(1)) first.set(field.ptr, field.length);
    else if (field.isBytes(2)) second.set(field.ptr, field.length);
  }
  return !field.malformed;
}
