import { Bytes, View, decode, encode } from "../../assembly/bytes";
import { findValue, hasOnly, isEmpty, isJson, isText, wholeNumber } from "../../assembly/hold/json";

function view(text: string): View {
  const bytes = encode(text);
  const result = new View();
  result.set(__pin(changetype<usize>(bytes)), bytes.length);
  return result;
}

function bytesOf(texts: string[]): StaticArray<Bytes> {
  const all = new StaticArray<Bytes>(texts.length);
  for (let i = 0; i < texts.length; i++) all[i] = encode(texts[i]);
  return all;
}

const out = new View();

function find(text: string, path: string[]): string {
  return findValue(view(text), bytesOf(path), out) ? decode(out.copy()) : "(none)";
}

function nested(depth: i32): string {
  return "[".repeat(depth) + "]".repeat(depth);
}

const LEGAL: string[] = [
  "{}",
  "[]",
  " [ ] ",
  "null",
  "true",
  "false",
  "0",
  "-0",
  "12",
  "1.5",
  "-1.25e+10",
  "1E5",
  '""',
  '"a"',
  '"\\u00e9\\n\\/"',
  '{"a":1,"b":[1,{"c":null}]}',
  ' { "a" : [ 1 , 2 ] } \n',
  '"\\ud83d\\ude00"',
  '{"a":{}}',
  '["a","b"]',
  "[[],[]]",
];
const ILLEGAL: string[] = [
  "",
  " ",
  "{",
  "}",
  "[",
  "]",
  "[1",
  "[1,",
  "[1,]",
  "[,1]",
  "[1 2]",
  '{"a"}',
  '{"a":}',
  '{"a":1,}',
  "{a:1}",
  '{"a":1',
  "{1:2}",
  '"',
  '"a',
  '"\\',
  '"\\"',
  '"\\x"',
  '"\\u12"',
  '"\\u12g4"',
  '"a\nb"',
  "01",
  "1.",
  ".5",
  "1e",
  "1e+",
  "-",
  "+1",
  "nul",
  "nulls",
  "tru",
  "fals",
  "f",
  "[DONE]",
  "{}{}",
  "1 2",
  "'a'",
  "\ufeff{}",
  '{"a":1}}',
  "[1}",
  '{"a":1]',
];

describe("JSON", () => {
  test("is told from what is none", () => {
    for (let i = 0; i < LEGAL.length; i++) {
      expect(isJson(view(LEGAL[i]))).toBe(true, LEGAL[i]);
    }
    for (let i = 0; i < ILLEGAL.length; i++) {
      expect(isJson(view(ILLEGAL[i]))).toBe(false, ILLEGAL[i]);
    }
  });

  test("that is cut anywhere is none", () => {
    const whole = '{"a":[1,{"b":"\\u00e9"}],"c":true}';
    for (let i = 0; i < whole.length; i++) {
      expect(isJson(view(whole.substring(0, i)))).toBe(false, whole.substring(0, i));
    }
  });

  test("that is nested deeper than 64 levels is none", () => {
    expect(isJson(view(nested(60)))).toBe(true);
    expect(isJson(view(nested(70)))).toBe(false);
    expect(isJson(view("[".repeat(100000)))).toBe(false);
  });

  test("has values at paths", () => {
    const text = ' {"a":1, "b" : {"c":[10,{"d":"x"}]}, "e":null}';
    expect(find(text, ["a"])).toBe("1");
    expect(find(text, ["b", "c", "0"])).toBe("10");
    expect(find(text, ["b", "c", "1", "d"])).toBe('"x"');
    expect(find(text, ["e"])).toBe("null");
    expect(find(text, [])).toBe('{"a":1, "b" : {"c":[10,{"d":"x"}]}, "e":null}');
    expect(find(text, ["c"])).toBe("(none)");
    expect(find(text, ["a", "b"])).toBe("(none)");
    expect(find(text, ["b", "c", "2"])).toBe("(none)");
    expect(find(text, ["b", "c", "x"])).toBe("(none)");
    expect(find(text, ["b", "c", ""])).toBe("(none)");
    expect(find(text, ["b", "c", "99999999999"])).toBe("(none)");
    expect(find("[]", ["0"])).toBe("(none)");
    expect(find("{}", ["a"])).toBe("(none)");
  });

  test("names are compared as they are spelt out, and the last of a name counts", () => {
    expect(find('{"\\u0061":1}', ["a"])).toBe("1");
    expect(find('{"a":1,"a":2}', ["a"])).toBe("2");
    expect(find('{"ab":1}', ["a"])).toBe("(none)");
    expect(find('{"a":1}', ["ab"])).toBe("(none)");
  });

  test("texts are compared with their escapes", () => {
    expect(isText(view('"overloaded"'), encode("overloaded"))).toBe(true);
    expect(isText(view('"\\u00e9\\t\\"\\\\\\/"'), encode('é\t"\\/'))).toBe(true);
    expect(isText(view('"\\u20ac"'), encode("€"))).toBe(true);
    expect(isText(view('"\\ud83d\\ude00!"'), encode("😀!"))).toBe(true);
    expect(isText(view('"\\u0041"'), encode("B"))).toBe(false);
    expect(isText(view('"\\u20ac"'), encode(""))).toBe(false);
    expect(isText(view('"abc"'), encode("ab"))).toBe(false);
    expect(isText(view('"ab"'), encode("abc"))).toBe(false);
    expect(isText(view("1"), encode("1"))).toBe(false);
    expect(isText(view('""'), encode(""))).toBe(true);
  });

  test("a surrogate without its other half is no character", () => {
    expect(isText(view('"\\ud83d"'), encode("😀"))).toBe(false);
    expect(isText(view('"\\ud83d\\u0041"'), encode("😀"))).toBe(false);
  });

  test("empty values", () => {
    const empty = ["null", '""', "{}", "[]", "[ ]", "{\n}"];
    const other = ["0", "false", '" "', "[0]", '{"a":null}'];
    for (let i = 0; i < empty.length; i++) expect(isEmpty(view(empty[i]))).toBe(true, empty[i]);
    for (let i = 0; i < other.length; i++) expect(isEmpty(view(other[i]))).toBe(false, other[i]);
  });

  test("an object with nothing but some fields", () => {
    const names = bytesOf(["role"]);
    expect(hasOnly(view('{"role":"assistant"}'), names)).toBe(true);
    expect(hasOnly(view('{"role":"assistant","content":"","refusal":null,"tool_calls":[]}'), names)).toBe(true);
    expect(hasOnly(view("{}"), names)).toBe(true);
    expect(hasOnly(view('{"role":"assistant","content":"H"}'), names)).toBe(false);
    expect(hasOnly(view('{"content":false}'), names)).toBe(false);
    expect(hasOnly(view("[]"), names)).toBe(false);
    expect(hasOnly(view('"role"'), names)).toBe(false);
  });

  test("whole numbers", () => {
    expect(wholeNumber(view("429"))).toBe(429);
    expect(wholeNumber(view('"503"'))).toBe(503);
    expect(wholeNumber(view("0"))).toBe(0);
    expect(wholeNumber(view("-1"))).toBe(-1);
    expect(wholeNumber(view("4.5"))).toBe(-1);
    expect(wholeNumber(view("1e3"))).toBe(-1);
    expect(wholeNumber(view('""'))).toBe(-1);
    expect(wholeNumber(view('"x"'))).toBe(-1);
    expect(wholeNumber(view("null"))).toBe(-1);
    expect(wholeNumber(view("9999999999999999999"))).toBe(-1);
  });
});
