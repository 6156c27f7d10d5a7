import { View, encode } from "../../assembly/bytes";
import { HeaderNumber } from "../../assembly/decide/header-number";

const number = new HeaderNumber();

function parses(text: string): bool {
  const bytes = encode(text);
  const view = new View();
  view.set(changetype<usize>(bytes), bytes.length);
  return number.parse(view);
}

function expectNumber(text: string, value: u64): void {
  expect(parses(text)).toBe(true, text);
  expect(number.value).toBe(value, text);
}

// The forms that native Envoy 1.40 takes and refuses.
describe("header number", () => {
  test("decimal digits", () => {
    expectNumber("0", 0);
    expectNumber("7", 7);
    expectNumber("18446744073709551615", u64.MAX_VALUE);
  });

  test("leading zeros and a plus sign", () => {
    expectNumber("01", 1);
    expectNumber("0000000000000000000000000000002", 2);
    expectNumber("+1", 1);
  });

  test("surrounding white space", () => {
    expectNumber(" 1 ", 1);
    expectNumber("\t1", 1);
    expectNumber("\r\n\v\f1 ", 1);
  });

  test("what is no number", () => {
    const refused = ["", " ", "+", "-1", "-0", "+ 1", "++1", "1 2", "1e0", "1.0", "0x1", "1_0", "1,2", "1\0", "\u0661"];
    for (let i = 0; i < refused.length; i++) expect(parses(refused[i])).toBe(false, refused[i]);
  });

  test("numbers past 2^64 - 1", () => {
    expect(parses("18446744073709551616")).toBe(false);
    expect(parses("18446744073709551620")).toBe(false);
    expect(parses("99999999999999999999")).toBe(false);
    expect(parses("184467440737095516150")).toBe(false);
  });
});
