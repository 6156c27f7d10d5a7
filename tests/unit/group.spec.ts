import { Bytes, encode } from "../../assembly/bytes";
import { Group, group } from "../../assembly/decide/group";

function weighted(weights: u32[]): Group {
  const names = new StaticArray<Bytes>(weights.length);
  const values = new StaticArray<u32>(weights.length);
  for (let i = 0; i < weights.length; i++) {
    names[i] = encode("c" + i.toString());
    values[i] = weights[i];
  }
  return group(encode("g"), names, values);
}

// The definition, without the search: the first interval whose end lies above the remainder.
function byDefinition(weights: u32[], random: u64): i32 {
  let total: u64 = 0;
  for (let i = 0; i < weights.length; i++) total += weights[i];
  let rest = random % total;
  for (let i = 0; i < weights.length; i++) {
    if (rest < weights[i]) return i;
    rest -= weights[i];
  }
  return -1;
}

describe("weighted pick", () => {
  test("intervals are half open and in list order", () => {
    const g = weighted([80, 20]);
    expect(g.pick(0)).toBe(0);
    expect(g.pick(79)).toBe(0);
    expect(g.pick(80)).toBe(1);
    expect(g.pick(99)).toBe(1);
    expect(g.pick(100)).toBe(0);
  });

  test("every residue of many weight lists", () => {
    const lists: u32[][] = [
      [1],
      [1, 1],
      [1, 2, 3],
      [5, 1, 1, 1, 5],
      [7, 3, 2, 9, 1, 1, 4],
      [1, 1, 1, 1, 1, 1, 1, 1, 1, 1],
    ];
    for (let l = 0; l < lists.length; l++) {
      const g = weighted(lists[l]);
      for (let random: u64 = 0; random < 2 * g.total + 1; random++) {
        expect(g.pick(random)).toBe(byDefinition(lists[l], random));
      }
    }
  });

  // Native Envoy 1.40 with three clusters of weight 2^32 - 1 (native-behaviour, 64-bit boundaries).
  test("a sum past 2^32", () => {
    const g = weighted([u32.MAX_VALUE, u32.MAX_VALUE, u32.MAX_VALUE]);
    expect(g.total).toBe(12884901885);
    expect(g.pick(4294967294)).toBe(0);
    expect(g.pick(4294967295)).toBe(1);
    expect(g.pick(8589934589)).toBe(1);
    expect(g.pick(8589934590)).toBe(2);
    expect(g.pick(12884901884)).toBe(2);
    expect(g.pick(12884901885)).toBe(0);
    expect(g.pick(u64.MAX_VALUE)).toBe(2);
  });

  test("one cluster takes every value", () => {
    const g = weighted([3]);
    expect(g.isWeighted).toBe(false);
    expect(g.pick(u64.MAX_VALUE)).toBe(0);
  });
});
