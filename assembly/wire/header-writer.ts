import { Bytes } from "../bytes";

/** Writes the ABI's serialized header map, see `readLines`: `texts` are names and values in turn. */
export function headerPairs(texts: StaticArray<Bytes>): Bytes {
  const count = texts.length / 2;
  let size = 4 + 4 * texts.length;
  for (let i = 0; i < texts.length; i++) size += texts[i].length + 1;
  const bytes = new StaticArray<u8>(size);
  const start = changetype<usize>(bytes);
  store<u32>(start, count);
  let text = start + 4 + 4 * <usize>texts.length;
  for (let i = 0; i < texts.length; i++) {
    const length = texts[i].length;
    store<u32>(start + 4 + 4 * <usize>i, length);
    memory.copy(text, changetype<usize>(texts[i]), length);
    text += length + 1;
  }
  return bytes;
}
