import { Bytes } from "../bytes";
import { xxhash64 } from "./xxhash64";

const FIRST_CAPACITY = 16;

/** Something that is found by its name in a `NameTable`. */
export class Named {
  /** The next one in the same place of the table. */
  next: Named | null = null;

  constructor(readonly name: Bytes) {}
}

/** Finds what has a name, in a time that does not grow with the number of names. */
@final
export class NameTable {
  private count: i32 = 0;
  /** At least as many places as names. */
  private places: StaticArray<Named | null> = new StaticArray<Named | null>(FIRST_CAPACITY);

  /** What has the name in these bytes, or null. */
  find(ptr: usize, length: i32): Named | null {
    let named = unchecked(this.places[this.placeOf(ptr, length)]);
    while (named != null && !isNamed(named, ptr, length)) named = named.next;
    return named;
  }

  /** Adds one whose name is not there yet. */
  add(named: Named): void {
    if (this.count == this.places.length) this.grow();
    this.count++;
    this.put(named);
  }

  private put(named: Named): void {
    const place = this.placeOf(changetype<usize>(named.name), named.name.length);
    named.next = this.places[place];
    this.places[place] = named;
  }

  private grow(): void {
    const before = this.places;
    this.places = new StaticArray<Named | null>(4 * before.length);
    for (let i = 0; i < before.length; i++) {
      let named = before[i];
      while (named != null) {
        const next = named.next;
        this.put(named);
        named = next;
      }
    }
  }

  private placeOf(ptr: usize, length: i32): i32 {
    return (<i32>xxhash64(ptr, length, 0)) & (this.places.length - 1);
  }
}

function isNamed(named: Named, ptr: usize, length: i32): bool {
  return named.name.length == length && memory.compare(changetype<usize>(named.name), ptr, length) == 0;
}
