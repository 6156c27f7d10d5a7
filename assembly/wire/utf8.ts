import { View } from "../bytes";

/** Whether the bytes are well-formed UTF-8 (Unicode, table 3-7): what a protobuf string must be to parse. */
export function isUtf8(text: View): bool {
  let i = 0;
  while (i < text.length) {
    const lead = text.at(i);
    if (lead < 0x80) {
      i++;
      continue;
    }
    const more = continuations(lead);
    if (more == 0 || text.length - i <= more) return false;
    if (!isSecond(lead, text.at(i + 1))) return false;
    for (let k = 2; k <= more; k++) {
      if ((text.at(i + k) & 0xc0) != 0x80) return false;
    }
    i += more + 1;
  }
  return true;
}

// Bytes that follow a lead byte; 0 for a byte that leads nothing.
function continuations(lead: u8): i32 {
  if (lead >= 0xc2 && lead <= 0xdf) return 1;
  if (lead >= 0xe0 && lead <= 0xef) return 2;
  if (lead >= 0xf0 && lead <= 0xf4) return 3;
  return 0;
}

// The second byte excludes overlong forms, surrogates and numbers past U+10FFFF.
function isSecond(lead: u8, byte: u8): bool {
  if (lead == 0xe0) return byte >= 0xa0 && byte <= 0xbf;
  if (lead == 0xed) return byte >= 0x80 && byte <= 0x9f;
  if (lead == 0xf0) return byte >= 0x90 && byte <= 0xbf;
  if (lead == 0xf4) return byte >= 0x80 && byte <= 0x8f;
  return byte >= 0x80 && byte <= 0xbf;
}
