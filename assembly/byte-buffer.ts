import { Bytes, View } from "./bytes";

const FIRST_CAPACITY = 128;

/** Bytes that are put together. Reused: it grows to the longest content it has had, and then allocates nothing. */
@final
export class ByteBuffer {
  length: i32 = 0;

  private bytes: Bytes = new StaticArray<u8>(FIRST_CAPACITY);

  clear(): this {
    this.length = 0;
    return this;
  }

  add(bytes: Bytes): this {
    return this.addRange(changetype<usize>(bytes), bytes.length);
  }

  /** Adds the bytes of a view, which is none of this buffer. */
  addView(view: View): this {
    return this.addRange(view.ptr, view.length);
  }

  /** Sets `out` to the content, which is there until the buffer is changed. */
  lend(out: View): void {
    out.set(changetype<usize>(this.bytes), this.length);
  }

  private addRange(ptr: usize, length: i32): this {
    const end = this.length + length;
    if (end > this.bytes.length) this.grow(end);
    memory.copy(changetype<usize>(this.bytes) + <usize>this.length, ptr, length);
    this.length = end;
    return this;
  }

  private grow(needed: i32): void {
    const bytes = new StaticArray<u8>(max(needed, 2 * this.bytes.length));
    memory.copy(changetype<usize>(bytes), changetype<usize>(this.bytes), this.length);
    this.bytes = bytes;
  }
}
