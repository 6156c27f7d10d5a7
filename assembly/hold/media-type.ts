import { Bytes, View, encode } from "../bytes";
import { isSpace } from "./json";
import { Framing } from "./splitter";

const SEMICOLON: u8 = 0x3b;
const EVENT_STREAM = encode("text/event-stream");
const JSON_TYPES: StaticArray<Bytes> = [
  encode("application/json"),
  encode("application/x-ndjson"),
  encode("application/ndjson"),
  encode("application/jsonl"),
  encode("application/x-jsonlines"),
];
const JSON_SUFFIX = encode("+json");
const GRPC = encode("application/grpc");
const GRPC_PLUS = encode("application/grpc+");

/** The media type of a content-type, without parameters and in small letters. */
export function mediaType(contentType: View): Bytes {
  let length = 0;
  while (length < contentType.length && contentType.at(length) != SEMICOLON) length++;
  while (length > 0 && isSpace(contentType.at(length - 1))) length--;
  const type: Bytes = new StaticArray<u8>(length);
  for (let i = 0; i < length; i++) {
    const c = contentType.at(i);
    type[i] = c >= 0x41 && c <= 0x5a ? c + 0x20 : c;
  }
  return type;
}

const type = new View();

/** How the events of an answer of a media type are told apart. */
export function framingOf(mediaType: Bytes): Framing {
  type.setBytes(mediaType);
  if (type.equals(EVENT_STREAM)) return Framing.LINES;
  for (let i = 0; i < JSON_TYPES.length; i++) {
    if (type.equals(JSON_TYPES[i])) return Framing.JSON;
  }
  const rest = type.length - JSON_SUFFIX.length;
  if (rest > 0) type.set(type.ptr + <usize>rest, JSON_SUFFIX.length);
  return rest > 0 && type.equals(JSON_SUFFIX) && !isGrpc(mediaType) ? Framing.JSON : Framing.NONE;
}

/** Whether a media type is that of gRPC, whose status comes in trailers. */
export function isGrpc(mediaType: Bytes): bool {
  type.setBytes(mediaType);
  return type.equals(GRPC) || type.startsWith(GRPC_PLUS);
}
