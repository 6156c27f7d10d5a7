import { Bytes, View } from "../bytes";

/** What a header transform does; the values of ADD to OVERWRITE are `HeaderValueOption.append_action` plus one. */
export enum TransformAction {
  REMOVE,
  APPEND_IF_EXISTS_OR_ADD,
  ADD_IF_ABSENT,
  OVERWRITE_IF_EXISTS_OR_ADD,
  OVERWRITE_IF_EXISTS,
}

/** Bytes before the name: action, length of the name, length of the value. */
const HEAD = 9;

/**
 * Header transforms as bytes: one after the other, in the order in which they run. Bytes, because those of the response
 * wait in filter state until the response comes.
 */
export function transform(action: TransformAction, name: Bytes, value: Bytes): Bytes {
  const bytes = new StaticArray<u8>(HEAD + name.length + value.length);
  const ptr = changetype<usize>(bytes);
  store<u8>(ptr, <u8>action);
  store<u32>(ptr + 1, name.length);
  store<u32>(ptr + 5, value.length);
  memory.copy(ptr + HEAD, changetype<usize>(name), name.length);
  memory.copy(ptr + HEAD + <usize>name.length, changetype<usize>(value), value.length);
  return bytes;
}

/** Steps through transforms. Reused: `reset` begins. */
@final
export class TransformReader {
  action: TransformAction = TransformAction.REMOVE;
  name: View = new View();
  value: View = new View();

  private ptr: usize = 0;
  private left: i32 = 0;

  reset(transforms: View): void {
    this.ptr = transforms.ptr;
    this.left = transforms.length;
  }

  /** Whether there is another one, which is then read. Bytes that are none end it. */
  next(): bool {
    const ptr = this.ptr;
    if (this.left < HEAD) return false;
    this.action = <TransformAction>load<u8>(ptr);
    const name = load<u32>(ptr + 1);
    const value = load<u32>(ptr + 5);
    if (<u64>name + <u64>value > <u64>(this.left - HEAD)) return false;
    this.name.set(ptr + HEAD, name);
    this.value.set(ptr + HEAD + <usize>name, value);
    const size = HEAD + <i32>name + <i32>value;
    this.ptr += <usize>size;
    this.left -= size;
    return true;
  }
}
