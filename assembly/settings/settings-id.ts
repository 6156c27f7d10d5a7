import { View } from "../bytes";

const MARK_LENGTH = 4;
const DIGITS = 16;
/** `@ar-` as a little-endian 32-bit word. */
const MARK: u32 = 0x2d726140;

/**
 * The settings id of a route name, or 0 where the name has none.
 *
 * `attempt-router lower` names a route `<name>@ar-<16 hex digits>`, and the digits are a hash of its settings. The same
 * name therefore means the same settings wherever and whenever it appears, which is what lets the module keep what it
 * read once; a name without the mark is a route without settings.
 */
export function settingsId(routeName: View): u64 {
  const start = routeName.length - MARK_LENGTH - DIGITS;
  if (start < 0 || load<u32>(routeName.ptr + <usize>start) != MARK) return 0;
  let id: u64 = 0;
  for (let i = routeName.length - DIGITS; i < routeName.length; i++) {
    const digit = hexDigit(routeName.at(i));
    if (digit > 15) return 0;
    id = (id << 4) | digit;
  }
  return id;
}

function hexDigit(char: u8): u64 {
  if (char >= 0x30 && char <= 0x39) return char - 0x30;
  if (char >= 0x61 && char <= 0x66) return char - 0x61 + 10;
  return 16;
}
