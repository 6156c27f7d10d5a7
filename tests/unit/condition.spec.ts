import { Bytes, View, encode } from "../../assembly/bytes";
import { AttributeMatch, Condition, Fraction, HeaderMatch, Wanted } from "../../assembly/decide/condition";
import { HeaderName } from "../../assembly/decide/request-view";
import { TextMatch, TextMatchKind } from "../../assembly/decide/text-match";
import { HostRequest } from "../../assembly/roles/host-request";
import { FakeHost } from "../../assembly/host/fake";

function matches(kind: TextMatchKind, text: string, value: string, ignoreCase: bool = false): bool {
  const bytes: Bytes = encode(value);
  const view = new View();
  view.setBytes(bytes);
  return new TextMatch(kind, encode(text), ignoreCase).matches(view);
}

function requestWith(lines: string[][]): HostRequest {
  const host = new FakeHost();
  host.headers = lines;
  return new HostRequest(host);
}

describe("text match", () => {
  test("of each kind", () => {
    expect(matches(TextMatchKind.EXACT, "gold", "gold")).toBe(true);
    expect(matches(TextMatchKind.EXACT, "gold", "golden")).toBe(false);
    expect(matches(TextMatchKind.PREFIX, "gold", "golden")).toBe(true);
    expect(matches(TextMatchKind.PREFIX, "gold", "gol")).toBe(false);
    expect(matches(TextMatchKind.SUFFIX, "en", "golden")).toBe(true);
    expect(matches(TextMatchKind.SUFFIX, "gold", "golden")).toBe(false);
    expect(matches(TextMatchKind.CONTAINS, "lde", "golden")).toBe(true);
    expect(matches(TextMatchKind.CONTAINS, "led", "golden")).toBe(false);
    expect(matches(TextMatchKind.EXACT, "", "")).toBe(true);
  });

  test("in either case, of ASCII letters alone", () => {
    expect(matches(TextMatchKind.EXACT, "gold", "GoLD", true)).toBe(true);
    expect(matches(TextMatchKind.EXACT, "gold", "GoLD")).toBe(false);
    expect(matches(TextMatchKind.EXACT, "[", "{", true)).toBe(false);
    expect(matches(TextMatchKind.EXACT, "@", "`", true)).toBe(false);
  });
});

describe("fraction", () => {
  test("of the request's value", () => {
    const half = new Fraction(50, 100);
    expect(half.holds(49)).toBe(true);
    expect(half.holds(50)).toBe(false);
    expect(half.holds(149)).toBe(true);
    expect(new Fraction(0, 100).holds(0)).toBe(false);
    expect(new Fraction(200, 100).holds(99)).toBe(true);
    expect(new Fraction(1, 1_000_000).holds(u64.MAX_VALUE)).toBe(false);
  });
});

const exact = new TextMatch(TextMatchKind.EXACT, encode("a,b"), false);

describe("header match", () => {
  test("looks at each line of a header", () => {
    const lines = requestWith([
      ["x", "a"],
      ["x", "b"],
    ]);
    const one = requestWith([["x", "a,b"]]);
    const second = new TextMatch(TextMatchKind.EXACT, encode("b"), false);
    const name = new HeaderName("X");
    expect(new HeaderMatch(name, exact, true, false, false).holds(lines)).toBe(false);
    expect(new HeaderMatch(name, exact, true, true, false).holds(lines)).toBe(true);
    expect(new HeaderMatch(name, second, true, false, false).holds(lines)).toBe(true);
    expect(new HeaderMatch(name, second, true, true, false).holds(lines)).toBe(false);
    expect(new HeaderMatch(name, exact, true, false, false).holds(one)).toBe(true);
    expect(new HeaderMatch(name, second, true, false, false).holds(one)).toBe(false);
  });

  test("an absent header holds only where it counts as empty or must be absent", () => {
    const request = requestWith([]);
    const empty = new TextMatch(TextMatchKind.EXACT, encode(""), false);
    const name = new HeaderName("x");
    expect(new HeaderMatch(name, empty, true, false, false).holds(request)).toBe(false);
    expect(new HeaderMatch(name, exact, true, true, false).holds(request)).toBe(false);
    expect(new HeaderMatch(name, empty, true, false, true).holds(request)).toBe(true);
    expect(new HeaderMatch(name, exact, true, true, true).holds(request)).toBe(true);
    expect(new HeaderMatch(name, null, false, false, false).holds(request)).toBe(true);
    expect(new HeaderMatch(name, null, true, true, false).holds(request)).toBe(true);
    expect(new HeaderMatch(name, null, true, false, true).holds(request)).toBe(true);
    expect(new HeaderMatch(name, null, false, false, true).holds(request)).toBe(false);
  });

  test("host is the authority", () => {
    const request = requestWith([[":authority", "a,b"]]);
    expect(new HeaderMatch(new HeaderName("Host"), exact, true, false, false).holds(request)).toBe(true);
  });
});

describe("condition", () => {
  test("holds when nothing is set", () => {
    expect(new Condition().holds(requestWith([]), false, 0)).toBe(true);
  });

  test("reads nothing of the request once something failed", () => {
    const host = new FakeHost();
    const condition = new Condition();
    condition.routeResolved = Wanted.YES;
    condition.path = new TextMatch(TextMatchKind.PREFIX, encode("/"), false);
    condition.headers = [new HeaderMatch(new HeaderName("x"), null, true, false, false)];
    expect(condition.holds(new HostRequest(host), false, 0)).toBe(false);
    expect(host.reads.size).toBe(0);
  });

  test("the path ends at its query or fragment", () => {
    const condition = new Condition();
    condition.path = new TextMatch(TextMatchKind.EXACT, encode("/a"), false);
    expect(condition.holds(requestWith([[":path", "/a?b"]]), true, 0)).toBe(true);
    expect(condition.holds(requestWith([[":path", "/a#b"]]), true, 0)).toBe(true);
    expect(condition.holds(requestWith([[":path", "/a/b"]]), true, 0)).toBe(false);
  });
});

describe("attribute match", () => {
  test("of an attribute that is there, read once for all conditions of a request", () => {
    const host = new FakeHost();
    host.set("filter_state.tier", "a,b");
    const request = new HostRequest(host);
    const tier = encode("filter_state\0tier");
    const condition = new Condition();
    condition.attributes = new AttributeMatch(tier, exact, new AttributeMatch(tier, exact, null));
    expect(condition.holds(request, true, 0)).toBe(true);
    expect(condition.holds(request, true, 0)).toBe(true);
    expect(host.reads.get("filter_state.tier")).toBe(1);
    condition.attributes = new AttributeMatch(encode("filter_state\0none"), exact, condition.attributes);
    expect(condition.holds(request, true, 0)).toBe(false);
    request.finish();
    expect(host.lent).toBe(0);
  });
});
