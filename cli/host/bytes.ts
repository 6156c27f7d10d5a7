/** Text as UTF-8, or bytes as they are. */
export type Bytes = string | Uint8Array;

const EMPTY = new Uint8Array(0);
/** A byte order mark is a character as any other. */
const UTF8 = new TextDecoder("utf-8", { ignoreBOM: true });

export function toBytes(value: Bytes | undefined): Uint8Array {
  if (value === undefined) return EMPTY;
  return typeof value === "string" ? new TextEncoder().encode(value) : value;
}

/** UTF-8 text; invalid sequences become U+FFFD. */
export function toText(bytes: Uint8Array): string {
  return UTF8.decode(bytes);
}

/** A byte string: one character per byte, the form in which node:http holds header values. */
export function toByteString(bytes: Uint8Array): string {
  let text = "";
  // Not all at once: arguments have a limit.
  for (let at = 0; at < bytes.length; at += 4096) text += String.fromCharCode(...bytes.subarray(at, at + 4096));
  return text;
}

export function fromByteString(text: string): Uint8Array {
  return Uint8Array.from(text, (char) => char.charCodeAt(0));
}
