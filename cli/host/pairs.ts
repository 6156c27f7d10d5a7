import { fromByteString, toByteString } from "./bytes.js";

export type Pair = [key: string, value: string];

const MAX_BYTES = 1024 * 1024;
const MAX_COUNT = 1024;

/** The ABI's form of a list of pairs: count, then each key and value length (u32 LE), then each key\0value\0. */
export function encodePairs(pairs: readonly Pair[]): Uint8Array {
  const data = fromByteString(pairs.map(([key, value]) => `${key}\0${value}\0`).join(""));
  const out = new Uint8Array(4 + pairs.length * 8 + data.length);
  const view = new DataView(out.buffer);
  view.setUint32(0, pairs.length, true);
  pairs.forEach(([key, value], i) => {
    view.setUint32(4 + i * 8, key.length, true);
    view.setUint32(8 + i * 8, value.length, true);
  });
  out.set(data, 4 + pairs.length * 8);
  return out;
}

/** The reverse; undefined for a malformed buffer, which Envoy reads as no pairs. An empty buffer has no pairs. */
export function decodePairs(bytes: Uint8Array): Pair[] | undefined {
  if (bytes.length === 0) return [];
  if (bytes.length < 4 || bytes.length > MAX_BYTES) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const count = view.getUint32(0, true);
  if (count > MAX_COUNT || 4 + count * 8 > bytes.length) return undefined;
  const pairs: Pair[] = [];
  let position = 4 + count * 8;
  const take = (length: number): string | undefined => {
    const end = position + length;
    if (end + 1 > bytes.length || bytes[end] !== 0) return undefined;
    const text = toByteString(bytes.subarray(position, end));
    position = end + 1;
    return text;
  };
  for (let i = 0; i < count; i++) {
    const key = take(view.getUint32(4 + i * 8, true));
    const value = key === undefined ? undefined : take(view.getUint32(8 + i * 8, true));
    if (key === undefined || value === undefined) return undefined;
    pairs.push([key, value]);
  }
  return position === bytes.length ? pairs : undefined;
}

/** Pairs whose keys and values are bytes, as nested property values have them. */
export function encodeBytePairs(pairs: readonly [Uint8Array, Uint8Array][]): Uint8Array {
  return encodePairs(pairs.map(([key, value]): Pair => [toByteString(key), toByteString(value)]));
}

export { fromByteString, toByteString };
