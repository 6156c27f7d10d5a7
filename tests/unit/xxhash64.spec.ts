import { encode } from "../../assembly/bytes";
import { xxhash64 } from "../../assembly/decide/xxhash64";

function hash(text: string, seed: u64 = 0): u64 {
  const bytes = encode(text);
  return xxhash64(changetype<usize>(bytes), bytes.length, seed);
}

// Values of the reference implementation, one for each of its length classes.
describe("XXH64", () => {
  test("known values", () => {
    expect(hash("")).toBe(0xef46db3751d8e999);
    expect(hash("a")).toBe(0xd24ec4f1a98c6e5b);
    expect(hash("abc")).toBe(0x44bc2cf5ad770999);
    expect(hash("message digest")).toBe(0x066ed728fceeb3be);
    expect(hash("abcdefghijklmnopqrstuvwxyz")).toBe(0xcfe1f278fa89835c);
    expect(hash("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789")).toBe(0xaaa46907d3047814);
  });

  test("a seed changes the value", () => {
    expect(hash("abc", 2654435761)).toBe(0x1318df30094a85fd);
    expect(hash("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789", 0xcfe1f278fa89835c)).toBe(
      0xaa1cf505feba5399,
    );
  });
});
