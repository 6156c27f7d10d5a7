import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { sha256 } from "../../cli/sha256.js";

function ofNode(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

test("the digest is that of Node.js for every length around the blocks, and for long input", () => {
  const bytes = Uint8Array.from({ length: 70_000 }, (_, index) => (index * 167 + (index >> 7)) & 0xff);
  const lengths = [...Array.from({ length: 200 }, (_, length) => length), 4096, 69_999];
  const wrong = lengths.filter((length) => sha256(bytes.subarray(3, length)) !== ofNode(bytes.subarray(3, length)));
  expect(wrong).toEqual([]);
});

test("text counts as UTF-8", () => {
  for (const text of ["", "abc", "ü→😀", "a".repeat(1000)]) expect(sha256(text)).toBe(ofNode(text));
});
