import { Bytes, encode } from "../bytes";

const METHOD = encode(":method");
const GET = encode("GET");
const PATH = encode(":path");
const AUTHORITY = encode(":authority");

/**
 * Writes the headers of a GET request as the ABI's serialized header map, see `readLines`; with one more header where `name`
 * is not empty.
 */
export function getRequest(path: Bytes, authority: Bytes, name: Bytes, value: Bytes): Bytes {
  const texts: StaticArray<Bytes> = [METHOD, GET, PATH, path, AUTHORITY, authority, name, value];
  return headerPairs(texts, name.length > 0 ? 8 : 6);
}

// The first `length` texts are names and values in turn.
function headerPairs(texts: StaticArray<Bytes>, length: i32): Bytes {
  let size = 4 + 4 * length;
  for (let i = 0; i < length; i++) size += texts[i].length + 1;
  const bytes = new StaticArray<u8>(size);
  const start = changetype<usize>(bytes);
  store<u32>(start, length / 2);
  let text = start + 4 + 4 * <usize>length;
  for (let i = 0; i < length; i++) {
    const size = texts[i].length;
    store<u32>(start + 4 + 4 * <usize>i, size);
    memory.copy(text, changetype<usize>(texts[i]), size);
    text += size + 1;
  }
  return bytes;
}
