// Byte strings. Header values, cluster names and metadata are UTF-8 on both sides of the host boundary, so the module
// compares and passes them as they are and never turns them into UTF-16 on the request path.

/** An owned, immutable byte string. */
export type Bytes = StaticArray<u8>;

/** A borrowed range of memory: bytes that the host handed over, or a part of such a range. Reused, never kept. */
@final
export class View {
  ptr: usize = 0;
  length: i32 = 0;

  @inline
  set(ptr: usize, length: i32): void {
    this.ptr = ptr;
    this.length = length;
  }

  setBytes(bytes: Bytes): void {
    this.set(changetype<usize>(bytes), bytes.length);
  }

  @inline
  at(index: i32): u8 {
    return load<u8>(this.ptr + <usize>index);
  }

  /** Whether the range holds exactly these bytes. */
  equals(other: Bytes): bool {
    return this.length == other.length && memory.compare(this.ptr, changetype<usize>(other), this.length) == 0;
  }

  /** Whether the range begins with these bytes. */
  startsWith(other: Bytes): bool {
    return this.length >= other.length && memory.compare(this.ptr, changetype<usize>(other), other.length) == 0;
  }

  /** Below 0, 0 or above 0, as these bytes come before the other's in byte order, are equal, or come after. */
  compare(other: View): i32 {
    const order = memory.compare(this.ptr, other.ptr, min(this.length, other.length));
    return order != 0 ? order : this.length - other.length;
  }

  /** A copy that outlives the range. */
  copy(): Bytes {
    const bytes = new StaticArray<u8>(this.length);
    memory.copy(changetype<usize>(bytes), this.ptr, this.length);
    return bytes;
  }
}

/** The empty byte string. */
export const NOTHING: Bytes = encode("");

/** The UTF-8 bytes of a string. Allocates: for names that are encoded once. */
export function encode(text: string): Bytes {
  const bytes = new StaticArray<u8>(String.UTF8.byteLength(text));
  String.UTF8.encodeUnsafe(changetype<usize>(text), text.length, changetype<usize>(bytes));
  return bytes;
}

/** The bytes of a header name or the like, its ASCII letters in lower case. */
export function encodeLowerCase(text: string): Bytes {
  const bytes = encode(text);
  for (let i = 0; i < bytes.length; i++) {
    if (bytes[i] >= 0x41 && bytes[i] <= 0x5a) bytes[i] += 0x20;
  }
  return bytes;
}

/** The string of UTF-8 bytes; malformed bytes become U+FFFD. Allocates: for messages. */
export function decode(bytes: Bytes): string {
  return String.UTF8.decodeUnsafe(changetype<usize>(bytes), bytes.length);
}

/** Whether two byte strings are equal. */
export function sameBytes(a: Bytes, b: Bytes): bool {
  return a.length == b.length && memory.compare(changetype<usize>(a), changetype<usize>(b), a.length) == 0;
}
