import { Bytes, View } from "../bytes";

/** The lines of one header. Reused: it grows to the most lines that a request has had, and refers to the request's memory. */
@final
export class Lines {
  length: i32 = 0;

  private views: Array<View> = [];

  at(index: i32): View {
    return this.views[index];
  }

  add(ptr: usize, length: i32): void {
    const views = this.views;
    if (this.length == views.length) views.push(new View());
    views[this.length++].set(ptr, length);
  }

  /** Puts the lines into byte order, in place (Shell's method). */
  sort(): void {
    let gap = this.length;
    while (gap > 1) {
      gap = gap > 3 ? (gap * 4) / 9 : 1;
      for (let i = gap; i < this.length; i++) this.sink(i, gap);
    }
  }

  private sink(index: i32, gap: i32): void {
    const views = this.views;
    const line = views[index];
    let i = index;
    for (; i >= gap && views[i - gap].compare(line) > 0; i -= gap) views[i] = views[i - gap];
    views[i] = line;
  }
}

/**
 * Reads every line of the header `name`, in order, from the ABI's serialized header map: the number of headers, then for
 * each the length of its name and of its value, then for each the name and the value, both followed by NUL. Names are lower
 * case. All numbers are 32-bit.
 */
export function readLines(pairs: View, name: Bytes, out: Lines): void {
  out.length = 0;
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
