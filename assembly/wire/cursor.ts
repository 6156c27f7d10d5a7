/** Wire types of protobuf fields. */
export namespace Wire {
  export const VARINT: u32 = 0;
  export const FIXED_64: u32 = 1;
  export const BYTES: u32 = 2;
  export const START_GROUP: u32 = 3;
  export const END_GROUP: u32 = 4;
  export const FIXED_32: u32 = 5;
}

/** Deepest nesting of groups, as Envoy's own parser has it. */
const MAX_GROUPS = 100;
const openGroups = new StaticArray<u32>(MAX_GROUPS);

/**
 * Reads a protobuf message field by field, on memory that may hold anything: it never reads past the end and never
 * traps. Once `malformed` is set, `next` returns false.
 */
@final
export class Cursor {
  /** Number and wire type of the current field. */
  field: u32 = 0;
  wire: u32 = 0;
  /** Value of a varint or fixed field. */
  number: u64 = 0;
  /** Range of a length-delimited field. */
  ptr: usize = 0;
  length: i32 = 0;
  malformed: bool = false;

  constructor(
    private position: usize = 0,
    private end: usize = 0,
  ) {}

  /** Starts over on the message `length` bytes from `ptr`: readers on the request path allocate no cursors. */
  reset(ptr: usize, length: i32): this {
    this.position = ptr;
    this.end = ptr + <usize>length;
    this.malformed = false;
    return this;
  }

  /** Steps to the next field and reads it; false at the end of the message or where it is malformed. */
  next(): bool {
    if (this.position >= this.end || this.malformed) return false;
    this.read();
    if (this.wire == Wire.START_GROUP) this.skipGroup();
    else if (this.wire == Wire.END_GROUP) this.malformed = true;
    return !this.malformed;
  }

  /** Whether the current field is the length-delimited field `field`. */
  @inline
  isBytes(field: u32): bool {
    return this.field == field && this.wire == Wire.BYTES;
  }

  private read(): void {
    const tag = this.varint();
    this.field = <u32>(tag >> 3);
    this.wire = <u32>(tag & 7);
    if (tag > u32.MAX_VALUE || this.field == 0 || this.wire > Wire.FIXED_32) this.malformed = true;
    else if (this.wire == Wire.VARINT) this.number = this.varint();
    else if (this.wire == Wire.FIXED_64) this.fixed(8);
    else if (this.wire == Wire.FIXED_32) this.fixed(4);
    else if (this.wire == Wire.BYTES) this.bytes();
  }

  // A group is a field of an older message format: legal where it is unknown, if it ends as it began.
  private skipGroup(): void {
    const field = this.field;
    let open = 0;
    openGroups[open++] = field;
    while (open > 0 && !this.malformed) {
      if (this.position >= this.end) this.malformed = true;
      else this.read();
      if (this.wire == Wire.START_GROUP && open == MAX_GROUPS) this.malformed = true;
      else if (this.wire == Wire.START_GROUP) openGroups[open++] = this.field;
      else if (this.wire == Wire.END_GROUP && openGroups[--open] != this.field) this.malformed = true;
    }
    this.field = field;
    this.wire = Wire.START_GROUP;
  }

  private varint(): u64 {
    let value: u64 = 0;
    for (let shift: u64 = 0; shift < 70; shift += 7) {
      if (this.position >= this.end) break;
      const byte = load<u8>(this.position++);
      if (shift < 64) value |= (<u64>(byte & 0x7f)) << shift;
      if (byte < 0x80) return value;
    }
    this.malformed = true;
    return 0;
  }

  private fixed(size: usize): void {
    if (this.end - this.position < size) {
      this.malformed = true;
      return;
    }
    this.number = size == 8 ? load<u64>(this.position) : <u64>load<u32>(this.position);
    this.position += size;
  }

  private bytes(): void {
    const length = this.varint();
    if (this.malformed || length > <u64>(this.end - this.position)) {
      this.malformed = true;
      return;
    }
    this.ptr = this.position;
    this.length = <i32>length;
    this.position += <usize>length;
  }
}
