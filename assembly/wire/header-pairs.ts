import { Bytes, View } from "../bytes";
import { ViewList } from "../view-list";

/**
 * Reads every line of the header `name`, in order, from the ABI's serialized header map: the number of headers, then for
 * each the length of its name and of its value, then for each the name and the value, both followed by NUL. Names are lower
 * case. All numbers are 32-bit.
 */
export function readLines(pairs: View, name: Bytes, out: ViewList): void {
  out.clear();
  if (pairs.length < 4) return;
  const count = load<u32>(pairs.ptr);
  let sizes = pairs.ptr + 4;
  let text = sizes + 8 * <usize>count;
  for (let i: u32 = 0; i < count; i++) {
    const nameLength = load<u32>(sizes);
    const valueLength = load<u32>(sizes, 4);
    header.set(text, nameLength);
    if (header.equals(name)) out.add(text + nameLength + 1, valueLength);
    text += nameLength + valueLength + 2;
    sizes += 8;
  }
}

const header = new View();
