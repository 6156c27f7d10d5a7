// Protobuf's wire format, apart from the module's own reader on purpose. Text is kept as latin1: one character a byte.

export const VARINT = 0;
export const FIXED_64 = 1;
export const BYTES = 2;
export const START_GROUP = 3;
export const END_GROUP = 4;
export const FIXED_32 = 5;

/** One field of a message. `bytes` is the payload of BYTES, FIXED_64 and FIXED_32; `raw` the whole field as it stood. */
export interface WireField {
  number: number;
  wire: number;
  varint: bigint;
  bytes: Buffer;
  raw: Buffer;
}

/** Deepest nesting of groups that a parser follows. */
const MAX_GROUPS = 100;

export function varint(value: number | bigint): Buffer {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  for (; rest >= 0x80n; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
  bytes.push(Number(rest));
  return Buffer.from(bytes);
}

export function tag(number: number, wire: number): Buffer {
  return varint(number * 8 + wire);
}

export function bytesField(number: number, payload: Uint8Array): Buffer {
  return Buffer.concat([tag(number, BYTES), varint(payload.length), payload]);
}

export function textField(number: number, text: string): Buffer {
  return bytesField(number, Buffer.from(text, "latin1"));
}

export function varintField(number: number, value: number | bigint): Buffer {
  return Buffer.concat([tag(number, VARINT), varint(value)]);
}

export function doubleField(number: number, value: number): Buffer {
  const payload = Buffer.alloc(8);
  payload.writeDoubleLE(value);
  return Buffer.concat([tag(number, FIXED_64), payload]);
}

/** The fields of a message, or undefined where the bytes are none. Groups are one field, unread. */
export function readFields(message: Buffer): WireField[] | undefined {
  const fields: WireField[] = [];
  let at = 0;
  while (at < message.length) {
    const field = readOne(message, at);
    if (field === undefined || field.wire === END_GROUP) return undefined;
    const end = field.wire === START_GROUP ? endOfGroup(message, at) : at + field.raw.length;
    if (end === undefined) return undefined;
    fields.push({ ...field, raw: message.subarray(at, end) });
    at = end;
  }
  return fields;
}

function endOfGroup(message: Buffer, start: number): number | undefined {
  const open: number[] = [];
  let at = start;
  do {
    const field = readOne(message, at);
    if (field === undefined) return undefined;
    if (field.wire === START_GROUP) open.push(field.number);
    if (field.wire === END_GROUP && open.pop() !== field.number) return undefined;
    if (open.length > MAX_GROUPS) return undefined;
    at += field.raw.length;
  } while (open.length > 0);
  return at;
}

function readOne(message: Buffer, at: number): WireField | undefined {
  const head = readVarint(message, at);
  if (head === undefined || head.value > 0xffffffffn) return undefined;
  const number = Number(head.value >> 3n);
  const wire = Number(head.value & 7n);
  const field = { number, wire, varint: 0n, bytes: Buffer.alloc(0), raw: message.subarray(at, head.end) };
  if (number === 0 || wire > FIXED_32) return undefined;
  if (wire === START_GROUP || wire === END_GROUP) return field;
  if (wire === VARINT) {
    const value = readVarint(message, head.end);
    return value && { ...field, varint: value.value, raw: message.subarray(at, value.end) };
  }
  const length = wire === BYTES ? readVarint(message, head.end) : { value: wire === FIXED_64 ? 8n : 4n, end: head.end };
  if (length === undefined || length.value > BigInt(message.length - length.end)) return undefined;
  const end = length.end + Number(length.value);
  return { ...field, bytes: message.subarray(length.end, end), raw: message.subarray(at, end) };
}

function readVarint(message: Buffer, at: number): { value: bigint; end: number } | undefined {
  let value = 0n;
  for (let i = 0; i < 10 && at + i < message.length; i++) {
    const byte = message[at + i] ?? 0;
    value |= BigInt(byte & 0x7f) << BigInt(7 * i);
    if (byte < 0x80) return { value: BigInt.asUintN(64, value), end: at + i + 1 };
  }
  return undefined;
}
