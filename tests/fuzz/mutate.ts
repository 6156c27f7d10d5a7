import { oddField } from "./generate.js";
import type { Random } from "./random.js";

/** `input` with one to four bytes or ranges changed; `other` is what may be spliced in. */
export function mutate(random: Random, input: Buffer, other: Buffer): Buffer {
  let bytes = input;
  for (let count = 1 + random.below(4); count > 0; count--) bytes = mutateOnce(random, bytes, other);
  return bytes;
}

function mutateOnce(random: Random, bytes: Buffer, other: Buffer): Buffer {
  const at = random.below(bytes.length + 1);
  const end = Math.min(bytes.length, at + random.below(12));
  const replaced = (middle: Uint8Array, to = at) =>
    Buffer.concat([bytes.subarray(0, at), middle, bytes.subarray(Math.max(at, to))]);
  return random.pick<() => Buffer>([
    () => bytes.subarray(0, at),
    () => bytes.subarray(at),
    () => replaced(Buffer.of((bytes[at] ?? 0) ^ (1 << random.below(8))), at + 1),
    () => replaced(Buffer.of(random.pick([0, 1, 0x7f, 0x80, 0xff, random.below(256)])), at + 1),
    () => replaced(random.bytes(1 + random.below(8))),
    () => replaced(Buffer.alloc(0), end),
    () => replaced(bytes.subarray(at, end)),
    () => replaced(oddField(random)),
    () => replaced(other.subarray(random.below(other.length + 1))),
    () => Buffer.concat([bytes, other]),
  ])();
}
