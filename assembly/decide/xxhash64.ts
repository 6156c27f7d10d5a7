// XXH64 as its specification defines it (xxHash fast digest algorithm, version 0.1.1).

const PRIME_1: u64 = 0x9e3779b185ebca87;
const PRIME_2: u64 = 0xc2b2ae3d27d4eb4f;
const PRIME_3: u64 = 0x165667b19e3779f9;
const PRIME_4: u64 = 0x85ebca77c2b2ae63;
const PRIME_5: u64 = 0x27d4eb2f165667c5;

function round(lane: u64, input: u64): u64 {
  return rotl<u64>(lane + input * PRIME_2, 31) * PRIME_1;
}

function merge(hash: u64, lane: u64): u64 {
  return (hash ^ round(0, lane)) * PRIME_1 + PRIME_4;
}

/** XXH64 of `length` bytes at `ptr`. */
export function xxhash64(ptr: usize, length: i32, seed: u64): u64 {
  const end = ptr + <usize>length;
  let hash: u64;
  if (length >= 32) {
    let lane1 = seed + PRIME_1 + PRIME_2;
    let lane2 = seed + PRIME_2;
    let lane3 = seed;
    let lane4 = seed - PRIME_1;
    while (ptr + 32 <= end) {
      lane1 = round(lane1, load<u64>(ptr));
      lane2 = round(lane2, load<u64>(ptr, 8));
      lane3 = round(lane3, load<u64>(ptr, 16));
      lane4 = round(lane4, load<u64>(ptr, 24));
      ptr += 32;
    }
    hash = rotl<u64>(lane1, 1) + rotl<u64>(lane2, 7) + rotl<u64>(lane3, 12) + rotl<u64>(lane4, 18);
    hash = merge(merge(merge(merge(hash, lane1), lane2), lane3), lane4);
  } else {
    hash = seed + PRIME_5;
  }
  return avalanche(tail(hash + <u64>length, ptr, end));
}

function tail(hash: u64, ptr: usize, end: usize): u64 {
  while (ptr + 8 <= end) {
    hash = rotl<u64>(hash ^ round(0, load<u64>(ptr)), 27) * PRIME_1 + PRIME_4;
    ptr += 8;
  }
  if (ptr + 4 <= end) {
    hash = rotl<u64>(hash ^ (<u64>load<u32>(ptr) * PRIME_1), 23) * PRIME_2 + PRIME_3;
    ptr += 4;
  }
  while (ptr < end) {
    hash = rotl<u64>(hash ^ (<u64>load<u8>(ptr) * PRIME_5), 11) * PRIME_1;
    ptr++;
  }
  return hash;
}

/** Another even value, which tells nothing of this one to anybody who only looks at remainders. */
export function mixed(value: u64): u64 {
  return avalanche(value * PRIME_1);
}

function avalanche(hash: u64): u64 {
  hash = (hash ^ (hash >> 33)) * PRIME_2;
  hash = (hash ^ (hash >> 29)) * PRIME_3;
  return hash ^ (hash >> 32);
}
