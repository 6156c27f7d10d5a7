import { Bytes, View } from "../bytes";

/**
 * Reads the ABI's serialized header map: the number of headers, then for each the length of its name and of its value,
 * then for each the name and the value, both followed by NUL. Names are lower case. All numbers are 32-bit.
 */
@final
export class HeaderPairs {
  constructor(private data: View) {}

  /** Every line of the header `name`, in order. */
  lines(name: Bytes): Array<View> {
    const found = new Array<View>();
    const data = this.data;
    if (data.length < 4) return found;
    const count = load<u32>(data.ptr);
    const header = new View();
    let text: usize = data.ptr + 4 + 8 * <usize>count;
    for (let i: u32 = 0; i < count; i++) {
      const nameLength = load<u32>(data.ptr + 4 + 8 * <usize>i);
      const valueLength = load<u32>(data.ptr + 8 + 8 * <usize>i);
      header.set(text, nameLength);
      if (header.equals(name)) {
        const line = new View();
        line.set(text + nameLength + 1, valueLength);
        found.push(line);
      }
      text += nameLength + valueLength + 2;
    }
    return found;
  }
}
