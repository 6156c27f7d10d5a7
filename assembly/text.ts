// Texts of numbers, for messages, keys and headers. The standard library's functions do the same for every radix and every
// double, in tables and code that are a twentieth of the module.

const ZERO: u64 = 0x30;
/** Below this a double holds every whole number, with room for six more digits in 64 bits. */
const LARGEST_PLAIN: f64 = 1e12;
const MILLION: f64 = 1e6;

/** Decimal digits. */
export function decimal(value: u64): string {
  let text = "";
  do {
    text = String.fromCharCode(<i32>(ZERO + (value % 10))) + text;
    value /= 10;
  } while (value > 0);
  return text;
}

/** A double with up to six decimals, as `0.5`, `-3` or `1.5e20`. */
export function formatNumber(number: f64): string {
  if (number != number) return "NaN";
  if (number < 0) return "-" + formatNumber(-number);
  let exponent = 0;
  while (number >= LARGEST_PLAIN && exponent <= 308) {
    number /= 10;
    exponent++;
  }
  if (exponent > 308) return "Infinity";
  while (exponent > 0 && number >= 10) {
    number /= 10;
    exponent++;
  }
  return exponent > 0 ? withDecimals(number) + "e" + decimal(exponent) : withDecimals(number);
}

function withDecimals(number: f64): string {
  const millionths = <u64>(number * MILLION + 0.5);
  const whole = decimal(millionths / 1_000_000);
  let fraction = millionths % 1_000_000;
  if (fraction == 0) return whole;
  // The leading 1 keeps the zeros behind the point.
  fraction += 1_000_000;
  while (fraction % 10 == 0) fraction /= 10;
  return whole + "." + decimal(fraction).substring(1);
}
