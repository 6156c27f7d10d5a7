import { View } from "../bytes";

/**
 * Reads a header value as an unsigned 64-bit decimal number, with the forms that Envoy accepts: surrounding ASCII
 * whitespace, one leading `+`, leading zeros. A sign `-`, any other character, an empty value or a number past 2^64 - 1
 * is no number.
 */
@final
export class HeaderNumber {
  value: u64 = 0;

  /** Whether `text` is a number; `value` then holds it. */
  parse(text: View): bool {
    let start = 0;
    let end = text.length;
    while (start < end && isSpace(text.at(start))) start++;
    while (end > start && isSpace(text.at(end - 1))) end--;
    if (start < end && text.at(start) == PLUS) start++;
    if (start == end) return false;
    let value: u64 = 0;
    for (let i = start; i < end; i++) {
      const digit: u64 = <u64>text.at(i) - ZERO;
      if (digit > 9) return false;
      if (value > LARGEST_TENTH || (value == LARGEST_TENTH && digit > LARGEST_LAST_DIGIT)) return false;
      value = value * 10 + digit;
    }
    this.value = value;
    return true;
  }
}

const PLUS: u8 = 0x2b;
const ZERO: u64 = 0x30;
const LARGEST_TENTH: u64 = u64.MAX_VALUE / 10;
const LARGEST_LAST_DIGIT: u64 = u64.MAX_VALUE % 10;

function isSpace(char: u8): bool {
  return char == 0x20 || (char >= 0x09 && char <= 0x0d);
}
