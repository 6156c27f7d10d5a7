import { View } from "../bytes";

const MARK_LENGTH = 4;
const DIGITS = 32;
/** Length of what lowering adds to a name. */
export const SUFFIX_LENGTH = MARK_LENGTH + DIGITS;
/** `@ar-` as a little-endian 32-bit word. */
const MARK: u32 = 0x2d726140;

/**
 * The settings id of a route name.
 *
 * `attempt-router lower` names a route `<name>@ar-<32 hex digits>`, and the digits are a hash of its settings. The same
 * name therefore means the same settings wherever and whenever it appears, which is what lets the module keep what it
 * read once; a name without the mark is a route without settings.
 */
@final
export class SettingsId {
  high: u64 = 0;
  low: u64 = 0;

  /** Whether a name has one, which is then here. */
  read(routeName: View): bool {
    const start = routeName.length - MARK_LENGTH - DIGITS;
    if (start < 0 || load<u32>(routeName.ptr + <usize>start) != MARK) return false;
    let high: u64 = 0;
    let low: u64 = 0;
    for (let i = routeName.length - DIGITS; i < routeName.length; i++) {
      const digit = hexDigit(routeName.at(i));
      if (digit > 15) return false;
      high = (high << 4) | (low >> 60);
      low = (low << 4) | digit;
    }
    this.high = high;
    this.low = low;
    return (high | low) != 0;
  }
}

function hexDigit(char: u8): u64 {
  if (char >= 0x30 && char <= 0x39) return char - 0x30;
  if (char >= 0x61 && char <= 0x66) return char - 0x61 + 10;
  return 16;
}
