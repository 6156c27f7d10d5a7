import { groupIndex } from "../../assembly/decide/attempt";

describe("group of an attempt", () => {
  test("attempt n uses group n", () => {
    for (let n = 1; n <= 5; n++) expect(groupIndex(n, 5)).toBe(n - 1);
  });

  test("past the end the last group repeats", () => {
    expect(groupIndex(4, 3)).toBe(2);
    expect(groupIndex(u32.MAX_VALUE, 3)).toBe(2);
  });

  test("an attempt that the proxy has not counted yet is the first", () => {
    expect(groupIndex(0, 3)).toBe(0);
  });

  test("a single group serves every attempt", () => {
    expect(groupIndex(1, 1)).toBe(0);
    expect(groupIndex(9, 1)).toBe(0);
  });
});
