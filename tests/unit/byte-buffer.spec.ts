import { ByteBuffer } from "../../assembly/byte-buffer";
import { View, decode, encode } from "../../assembly/bytes";

const out = new View();

function content(buffer: ByteBuffer): string {
  buffer.lend(out);
  return decode(out.copy());
}

describe("a byte buffer", () => {
  test("holds what was added since it was cleared", () => {
    const buffer = new ByteBuffer();
    expect(content(buffer)).toBe("");
    expect(content(buffer.add(encode("a")).add(encode("bc")))).toBe("abc");
    out.setBytes(encode("d"));
    expect(content(buffer.clear().addView(out))).toBe("d");
  });

  test("grows", () => {
    const buffer = new ByteBuffer();
    const part = encode("0123456789");
    for (let i = 0; i < 100; i++) buffer.add(part);
    expect(content(buffer)).toBe("0123456789".repeat(100));
    expect(content(buffer.clear().add(encode("x".repeat(5000))))).toBe("x".repeat(5000));
  });
});
