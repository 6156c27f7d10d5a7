/**
 * XXH64, written from the published xxHash specification with big integers: slow, and independent of the module's own.
 *
 * @param seed unsigned 64-bit
 * @returns unsigned 64-bit
 */
export function xxh64(input: Uint8Array, seed = 0n): bigint {
  const view = new DataView(input.buffer, input.byteOffset, input.byteLength);
  let at = 0;
  let acc = input.length < 32 ? u64(seed + PRIME_5) : 0n;
  if (input.length >= 32) {
    const lanes = [seed + PRIME_1 + PRIME_2, seed + PRIME_2, seed, seed - PRIME_1].map(u64);
    for (; at + 32 <= input.length; at += 32) {
      for (let i = 0; i < 4; i++) lanes[i] = round(lanes[i] ?? 0n, view.getBigUint64(at + 8 * i, true));
    }
    acc = converge(lanes);
  }
  acc = u64(acc + BigInt(input.length));
  for (; at + 8 <= input.length; at += 8) {
    acc = u64(rotl(acc ^ round(0n, view.getBigUint64(at, true)), 27n) * PRIME_1 + PRIME_4);
  }
  if (at + 4 <= input.length) {
    acc = u64(rotl(acc ^ u64(BigInt(view.getUint32(at, true)) * PRIME_1), 23n) * PRIME_2 + PRIME_3);
    at += 4;
  }
  for (; at < input.length; at++) acc = u64(rotl(acc ^ u64(BigInt(view.getUint8(at)) * PRIME_5), 11n) * PRIME_1);
  return avalanche(acc);
}

const PRIME_1 = 0x9e3779b185ebca87n;
const PRIME_2 = 0xc2b2ae3d27d4eb4fn;
const PRIME_3 = 0x165667b19e3779f9n;
const PRIME_4 = 0x85ebca77c2b2ae63n;
const PRIME_5 = 0x27d4eb2f165667c5n;

const u64 = (value: bigint): bigint => BigInt.asUintN(64, value);

export function rotl(value: bigint, bits: bigint): bigint {
  return u64((value << bits) | (value >> (64n - bits)));
}

function round(acc: bigint, lane: bigint): bigint {
  return u64(rotl(u64(acc + lane * PRIME_2), 31n) * PRIME_1);
}

function converge(lanes: bigint[]): bigint {
  const rotations = [1n, 7n, 12n, 18n];
  let acc = u64(lanes.reduce((sum, lane, i) => sum + rotl(lane, rotations[i] ?? 0n), 0n));
  for (const lane of lanes) acc = u64((acc ^ round(0n, lane)) * PRIME_1 + PRIME_4);
  return acc;
}

function avalanche(value: bigint): bigint {
  let acc = u64((value ^ (value >> 33n)) * PRIME_2);
  acc = u64((acc ^ (acc >> 29n)) * PRIME_3);
  return acc ^ (acc >> 32n);
}
