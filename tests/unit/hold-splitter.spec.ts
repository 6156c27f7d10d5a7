import { encode } from "../../assembly/bytes";
import { Byte, Framing, Splitter } from "../../assembly/hold/splitter";

/** The events of a text, each in brackets; what begins and does not end comes last, without. */
function split(text: string, framing: Framing): string {
  const bytes = encode(text);
  const splitter = new Splitter(framing);
  let events = "";
  let start = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = splitter.take(bytes[at]);
    if (byte == Byte.WITHIN) continue;
    if (byte == Byte.LAST) events += "<" + part(text, bytes.length, start, at + 1) + ">";
    start = at + 1;
  }
  return events + part(text, bytes.length, start, bytes.length);
}

// The texts are of one byte a character, but for a mark at the beginning.
function part(text: string, length: i32, start: i32, end: i32): string {
  const more = length - text.length;
  return text.substring(start == 0 ? 0 : start - more, end - more);
}

describe("server-sent events", () => {
  test("end with an empty line, in every spelling of a line's end", () => {
    expect(split("data: a\n\ndata: b\n\n", Framing.LINES)).toBe("<data: a\n\n><data: b\n\n>");
    expect(split("data: a\r\rdata: b\r\r", Framing.LINES)).toBe("<data: a\r\r><data: b\r\r>");
    expect(split("data: a\r\n\r\ndata: b\r\n\r\n", Framing.LINES)).toBe("<data: a\r\n\r><\ndata: b\r\n\r>\n");
    expect(split("data: a\r\n\ndata: b\n\r\n", Framing.LINES)).toBe("<data: a\r\n\n><data: b\n\r>\n");
  });

  test("may have several lines, and go on", () => {
    expect(split(": c\nevent: e\ndata: a\ndata: b\n\ndata: c", Framing.LINES)).toBe(
      "<: c\nevent: e\ndata: a\ndata: b\n\n>data: c",
    );
  });

  test("come after a byte order mark", () => {
    expect(split("\ufeffdata: a\n\n", Framing.LINES)).toBe("<data: a\n\n>");
  });

  test("may be JSON instead", () => {
    expect(split('{"error":{"a":"\n\n"}}\n', Framing.LINES)).toBe('<{"error":{"a":"\n\n"}}>');
  });
});

describe("JSON values", () => {
  test("end with their last bracket", () => {
    expect(split(' {"a":{"b":[1,2]}} ', Framing.JSON)).toBe('<{"a":{"b":[1,2]}}>');
    expect(split('{"a":1}\n{"b":2}\r\n', Framing.JSON)).toBe('<{"a":1}><{"b":2}>');
  });

  test("stand in a list", () => {
    expect(split('[{"a":[1]},\n{"b":2}\n]\n', Framing.JSON)).toBe('<{"a":[1]}><{"b":2}>');
    expect(split("[]", Framing.JSON)).toBe("");
    expect(split("[[1],[2]]", Framing.JSON)).toBe("<[1]><[2]>");
  });

  test("have brackets and quotes in strings", () => {
    expect(split('{"a":"}\\"}\\\\"}{"b":"["}', Framing.JSON)).toBe('<{"a":"}\\"}\\\\"}><{"b":"["}>');
    expect(split('"a}" "b"', Framing.JSON)).toBe('<"a}"><"b">');
  });

  test("may be words and numbers, ended by what follows", () => {
    expect(split("null 12,x", Framing.JSON)).toBe("<null ><12,>x");
  });

  test("may be none: too many brackets close", () => {
    expect(split("]]}{}", Framing.JSON)).toBe("<{}>");
  });
});
