import { View, decode, encode } from "../../assembly/bytes";
import { httpStatusOf } from "../../assembly/hold/grpc-status";
import { framingOf, isGrpc, mediaType } from "../../assembly/hold/media-type";
import { Rule } from "../../assembly/hold/rules";
import { HoldSettings } from "../../assembly/hold/settings";
import { Framing } from "../../assembly/hold/splitter";

function view(text: string): View {
  const bytes = encode(text);
  const result = new View();
  result.set(__pin(changetype<usize>(bytes)), bytes.length);
  return result;
}

function framing(contentType: string): Framing {
  return framingOf(mediaType(view(contentType)));
}

describe("a media type", () => {
  test("has no parameters, and small letters", () => {
    expect(decode(mediaType(view("Text/Event-Stream ; charset=utf-8")))).toBe("text/event-stream");
    expect(decode(mediaType(view("")))).toBe("");
    expect(decode(mediaType(view(";a")))).toBe("");
  });

  test("says how events are told apart", () => {
    expect(framing("text/event-stream; charset=utf-8")).toBe(Framing.LINES);
    expect(framing("application/json")).toBe(Framing.JSON);
    expect(framing("application/problem+json")).toBe(Framing.JSON);
    expect(framing("application/x-ndjson")).toBe(Framing.JSON);
    expect(framing("text/plain")).toBe(Framing.NONE);
    expect(framing("+json")).toBe(Framing.NONE);
    expect(framing("application/grpc+json")).toBe(Framing.NONE);
    expect(framing("")).toBe(Framing.NONE);
  });

  test("may be that of gRPC, but for its form for browsers", () => {
    expect(isGrpc(encode("application/grpc"))).toBe(true);
    expect(isGrpc(encode("application/grpc+proto"))).toBe(true);
    expect(isGrpc(encode("application/grpc-web"))).toBe(false);
    expect(isGrpc(encode("application/json"))).toBe(false);
  });
});

describe("a gRPC status", () => {
  test("stands for an HTTP status", () => {
    expect(httpStatusOf(view("0"))).toBe(0);
    expect(httpStatusOf(view("14"))).toBe(503);
    expect(httpStatusOf(view("8"))).toBe(429);
    expect(httpStatusOf(view("16"))).toBe(401);
    expect(httpStatusOf(view("17"))).toBe(500);
    expect(httpStatusOf(view("99999"))).toBe(500);
    expect(httpStatusOf(view("-1"))).toBe(500);
    expect(httpStatusOf(view(""))).toBe(0);
  });
});

describe("errors of settings", () => {
  test("fit answers of their media type, and without one those that have events", () => {
    const settings = new HoldSettings();
    settings.errors = [new Rule(), new Rule(), new Rule()];
    settings.errors[0].event = encode("error");
    settings.errors[1].contentType = encode("text/plain");
    settings.errors[1].text = encode("busy");
    settings.errors[2].contentType = encode("text/html");
    settings.errors[2].status = 502;
    expect(settings.errorsOf(encode("text/event-stream"), true)).toBe(1);
    expect(settings.errorsOf(encode("text/plain"), false)).toBe(2);
    expect(settings.errorsOf(encode("image/png"), false)).toBe(0);
    expect(settings.statusOf(encode("text/html"))).toBe(502);
    expect(settings.statusOf(encode("text/plain"))).toBe(0);
  });
});
