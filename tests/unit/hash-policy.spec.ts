import { View, decode, encode } from "../../assembly/bytes";
import { CombinedHash, findCookie, findIp, findQueryParameter, hashLines } from "../../assembly/decide/hash-policy";
import { decimal } from "../../assembly/text";
import { ViewList } from "../../assembly/view-list";
import { xxhash64 } from "../../assembly/decide/xxhash64";

function view(text: string): View {
  const bytes = encode(text);
  const result = new View();
  result.set(__pin(changetype<usize>(bytes)), bytes.length);
  return result;
}

function hash(text: string, seed: u64 = 0): u64 {
  const bytes = view(text);
  return xxhash64(bytes.ptr, bytes.length, seed);
}

function linesOf(texts: string[]): ViewList {
  const lines = new ViewList();
  for (let i = 0; i < texts.length; i++) {
    const line = view(texts[i]);
    lines.add(line.ptr, line.length);
  }
  return lines;
}

const NONE = "(none)";
const out = new View();

function cookie(line: string, name: string): string {
  return findCookie(view(line), encode(name), out) ? decode(out.copy()) : NONE;
}

function parameter(path: string, name: string): string {
  return findQueryParameter(view(path), encode(name), out) ? decode(out.copy()) : NONE;
}

function ip(address: string): string {
  return findIp(view(address), out) ? decode(out.copy()) : NONE;
}

describe("header hash", () => {
  test("one line", () => {
    expect(hashLines(linesOf(["abc"]))).toBe(hash("abc"));
  });

  test("lines are sorted by bytes and chained", () => {
    const expected = hash("b", hash("ab", hash("a")));
    expect(hashLines(linesOf(["b", "a", "ab"]))).toBe(expected);
    expect(hashLines(linesOf(["ab", "b", "a"]))).toBe(expected);
  });

  test("many lines", () => {
    const texts: string[] = [];
    for (let i = 0; i < 100; i++) texts.push(decimal(100 + ((i * 37) % 100)));
    let expected: u64 = 0;
    for (let i: u64 = 100; i < 200; i++) expected = hash(decimal(i), expected);
    expect(hashLines(linesOf(texts))).toBe(expected);
  });

  test("bytes sort unsigned", () => {
    expect(hashLines(linesOf(["\u00e9", "z"]))).toBe(hash("\u00e9", hash("z")));
  });

  test("an empty line hashes as the empty string", () => {
    expect(hashLines(linesOf([""]))).toBe(0xef46db3751d8e999);
  });
});

describe("combined hash", () => {
  test("each hash is added to the rotated hash before", () => {
    const combined = new CombinedHash();
    combined.add(0x8000000000000001);
    expect(combined.value).toBe(0x8000000000000001);
    combined.add(0x10);
    expect(combined.value).toBe(0x13);
  });

  test("nothing added, nothing there", () => {
    const combined = new CombinedHash();
    combined.add(5);
    combined.reset();
    expect(combined.exists).toBe(false);
  });
});

describe("cookie", () => {
  test("the first of its name", () => {
    expect(cookie("a=1; session=x; session=y", "session")).toBe("x");
    expect(cookie("session=x", "session")).toBe("x");
    expect(cookie("session=", "session")).toBe("");
  });

  test("quotes around the value are dropped", () => {
    expect(cookie('s="quoted"', "s")).toBe("quoted");
    expect(cookie('s="', "s")).toBe('"');
  });

  test("a value may hold equals signs", () => {
    expect(cookie("s=a=b", "s")).toBe("a=b");
  });

  test("a part of a name, a part without equals sign and an empty line are no match", () => {
    expect(cookie("xsession=1; sessionx=2", "session")).toBe(NONE);
    expect(cookie("session", "session")).toBe(NONE);
    expect(cookie("", "session")).toBe(NONE);
    expect(cookie(";;", "session")).toBe(NONE);
  });
});

describe("query parameter", () => {
  test("the first of its name, undecoded", () => {
    expect(parameter("/p?a=1&q=x%20y&q=z", "q")).toBe("x%20y");
    expect(parameter("/p?q=", "q")).toBe("");
    expect(parameter("/p?q", "q")).toBe("");
    expect(parameter("/p?q=a=b", "q")).toBe("a=b");
  });

  test("absent", () => {
    expect(parameter("/p", "q")).toBe(NONE);
    expect(parameter("/q=1", "q")).toBe(NONE);
    expect(parameter("/p?", "q")).toBe(NONE);
    expect(parameter("/p?qq=1&xq=2", "q")).toBe(NONE);
    expect(parameter("", "q")).toBe(NONE);
  });
});

describe("source IP", () => {
  test("without its port", () => {
    expect(ip("127.0.0.1:5000")).toBe("127.0.0.1");
    expect(ip("[::1]:5000")).toBe("::1");
  });

  test("a pipe or an internal address has none", () => {
    expect(ip("/run/socket:1")).toBe(NONE);
    expect(ip("@abstract:1")).toBe(NONE);
    expect(ip("envoy://listener/1")).toBe(NONE);
    expect(ip("[:1")).toBe(NONE);
    expect(ip("")).toBe(NONE);
    expect(ip("nothing")).toBe(NONE);
  });
});
