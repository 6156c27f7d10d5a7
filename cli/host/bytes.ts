/** Text as UTF-8, or bytes as they are. */
export type Bytes = string | Uint8Array;

const EMPTY = new Uint8Array(0);

export function toBytes(value: Bytes | undefined): Uint8Array {
  if (value === undefined) return EMPTY;
  return typeof value === "string" ? Buffer.from(value, "utf8") : value;
}

/** UTF-8 text; invalid sequences become U+FFFD. */
export function toText(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
}

/** A byte string: one character per byte, the form in which node:http holds header values. */
export function toByteString(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
}

export function fromByteString(text: string): Uint8Array {
  return Buffer.from(text, "latin1");
}
