import { decimal, formatNumber } from "../../assembly/text";

describe("numbers as text", () => {
  test("whole numbers in decimal digits", () => {
    expect(decimal(0)).toBe("0");
    expect(decimal(10)).toBe("10");
    expect(decimal(u64.MAX_VALUE)).toBe("18446744073709551615");
  });

  test("doubles with up to six decimals", () => {
    expect(formatNumber(0)).toBe("0");
    expect(formatNumber(-3)).toBe("-3");
    expect(formatNumber(0.5)).toBe("0.5");
    expect(formatNumber(1.05)).toBe("1.05");
    expect(formatNumber(1 / 3)).toBe("0.333333");
    expect(formatNumber(0.9999999)).toBe("1");
    expect(formatNumber(4294967296)).toBe("4294967296");
  });

  test("large ones with an exponent", () => {
    expect(formatNumber(-1e12)).toBe("-1e12");
    expect(formatNumber(1.5e20)).toBe("1.5e20");
  });

  test("what is no number of such a form", () => {
    expect(formatNumber(f64.NaN)).toBe("NaN");
    expect(formatNumber(-Infinity)).toBe("-Infinity");
    expect(formatNumber(f64.MAX_VALUE)).toBe("1.797693e308");
  });
});
