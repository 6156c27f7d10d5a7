import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readFile } from "node:fs/promises";
import * as http from "node:http";
import { once } from "node:events";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import versions from "../../tools/envoy/versions.json" with { type: "json" };
import { waitFor } from "../../tools/wait.js";
import { Holding, LOG } from "../support/holding.js";
import { EVENTS, JSON_TYPE, repeats, says, stalls, type Play } from "../support/providers.js";

const SETTINGS = {
  until: "FIRST_CONTENT",
  max_bytes: 2000,
  not_content: [
    { comment: true },
    { event: "ping" },
    { json: { path: ["type"], value: "response.created" } },
    {
      json: [
        { path: ["delta"], only: ["role"] },
        { path: ["finish"], empty: true },
      ],
    },
  ],
  errors: [
    { event: "error", status: 529 },
    { json: { path: ["error"], present: true }, status: 500, status_path: ["error", "code"] },
    { content_type: "text/html", status: 502 },
    { content_type: "text/plain", string: "busy", status: 503 },
  ],
  empty: 502,
};

const GOOD = "data: fine\n\ndata: [DONE]\n\n";
const CREATED = 'event: response.created\ndata: {"type":"response.created"}\n\n';
const PING = ": ping\n\n";
const ERROR = 'event: error\ndata: {"type":"error"}\n\n';
const CONTENT = "data: hello\n\n";
const TEXT = { "content-type": "text/plain" };

/** Each byte a piece. */
const cut = (text: string): string[] => Array.from(text);

/** What a first provider may do and then say nothing that counts. The time-out for an attempt ends that. */
const SILENT: Record<string, Play> = {
  "silence after the headers": stalls(EVENTS),
  "silence after a ping": stalls(EVENTS, PING),
  "comments for ever": repeats(EVENTS, PING),
  "events that are no content for ever": repeats(EVENTS, "event: ping\ndata: {}\n\n"),
  "the first half of an event": stalls(EVENTS, "data: hel"),
  "the first half of a JSON value": stalls(JSON_TYPE, '{"id":1,'),
};

/** What a first provider may answer for which the second one is asked at once. */
const LEFT: Record<string, Play> = {
  "an error as the first event": says(EVENTS, ERROR),
  "an error as the first event, and then silence": stalls(EVENTS, ERROR),
  "an error as the second event": says(EVENTS, CREATED, ERROR),
  "two events in a piece, the second an error": says(EVENTS, CREATED + ERROR + CONTENT),
  "an error byte by byte": says(EVENTS, ...cut("\ufeff" + PING + ERROR)),
  "an error with other line ends": says(EVENTS, "event: error\r\ndata: a\r\n\r\n"),
  "an error with returns cut from feeds": says(EVENTS, "event: error\r", "\ndata: a\r\n\r", "\n"),
  "an error with the oldest line ends": says(EVENTS, ": ping\r\revent: error\rdata: a\r\r"),
  "an error in data of several lines": says(EVENTS, 'data: {"error":\ndata: {"code": 503}}\n\n'),
  "an error without data": says(EVENTS, "event: error\n\n"),
  "an error that the stream ends with": says(EVENTS, "event: error\ndata: cut"),
  "a stream without anything": says(EVENTS),
  "a stream of comments": says(EVENTS, PING, PING),
  "a stream without content": says(EVENTS, CREATED, 'data: {"delta":{"role":"assistant","content":""}}\n\n'),
  "a JSON error": says(JSON_TYPE, '{"error": {"message": "no"}}'),
  "a JSON error with its length": says({ ...JSON_TYPE, "content-length": "13" }, '{"error":"x"}'),
  "a JSON error in pieces": says({ "content-type": "application/json; charset=utf-8" }, '{"er', 'ror": {"a"', ":1}}"),
  "a JSON error in a list": says(JSON_TYPE, '[{"error": {"code": 503}}', "\n]"),
  "a JSON error where events were promised": says(EVENTS, '{"error": {"code": 503}}'),
  "a JSON error of a type of its own": says({ "content-type": "application/problem+json" }, '{"error": 1}'),
  "no body at all": says(JSON_TYPE),
  "a page": says({ "content-type": "text/html; charset=utf-8" }, "<html>"),
  "a text that says so": says(TEXT, "we are ", "busy"),
};

/** What a first provider may answer that goes to the client as it is: the pieces. */
const KEPT: Record<string, [Record<string, string>, ...(string | Buffer)[]]> = {
  "content at once": [EVENTS, CONTENT, CONTENT],
  "content after what is none": [EVENTS, CREATED, PING, CONTENT, CONTENT],
  "an error after content": [EVENTS, CONTENT, ERROR],
  "a role with content": [EVENTS, 'data: {"delta":{"role":"assistant","content":"Hi"}}\n\n'],
  "a role and an end": [EVENTS, 'data: {"delta":{"role":"assistant"},"finish":"stop"}\n\n'],
  "content byte by byte": [EVENTS, ...cut(PING + CREATED + CONTENT + CONTENT)],
  "data that is no JSON": [EVENTS, 'data: {"error":\n\n'],
  "content without an end": [EVENTS, "data: half"],
  JSON: [JSON_TYPE, '{"id":1,"error":null,', '"text":"x"}'],
  "JSON that is cut": [JSON_TYPE, '{"error":'],
  "JSON with its length": [{ ...JSON_TYPE, "content-length": "8" }, '{"id":1}'],
  "JSON larger than may be held": [JSON_TYPE, `{"a":"${"x".repeat(3000)}",`, '"error":1}'],
  "more comments than may be held": [EVENTS, ...Array<string>(500).fill(PING), ERROR],
  "more in one piece than may be held": [EVENTS, PING, PING.repeat(200_000) + ERROR],
  text: [TEXT, "hello"],
  "text that says so too late": [TEXT, "x".repeat(2500), "busy"],
  bytes: [{ "content-type": "application/octet-stream" }, Buffer.from([0, 1, 2, 255]), Buffer.from([7])],
  "no type": [{}, "hello"],
  compressed: [{ ...EVENTS, "content-encoding": "gzip" }, gzipSync(ERROR)],
};

const slug = (name: string): string => `/${name.replaceAll(/\W+/g, "-")}`;
const byPath = (plays: Record<string, Play>): ReadonlyMap<string, Play> =>
  new Map(Object.entries(plays).map(([name, play]) => [slug(name), play]));
const KEPT_PLAYS = Object.fromEntries(
  Object.entries(KEPT).map(([name, [headers, ...pieces]]) => [name, says(headers, ...pieces)]),
);
const FIRST = new Map([...byPath(SILENT), ...byPath(LEFT), ...byPath(KEPT_PLAYS)]);

/** Behind `/both` the second provider does as the first. */
function play(first: boolean): Play {
  return (answer, request) => {
    const [path = "", query] = (request.url ?? "").split("?");
    const found = first || query === "both" ? FIRST.get(path) : undefined;
    (found ?? says(EVENTS, GOOD))(answer, request);
  };
}

const text = (...pieces: (string | Buffer)[]): string =>
  Buffer.concat(pieces.map((piece) => Buffer.from(piece))).toString("latin1");

describe.each(versions.versions)("hold_response on Envoy %s", (version) => {
  let proxy: Holding;

  beforeAll(async () => {
    proxy = await Holding.start(version, { providers: { first: play(true), second: play(false) }, hold: SETTINGS });
  });
  afterAll(async () => {
    await proxy.stop();
  });

  it.each(Object.keys(LEFT))("goes on to the next provider after %s", async (name) => {
    const { result, hops } = await proxy.sendAndCount(slug(name));
    expect(hops).toEqual([1, 1]);
    expect(result).toMatchObject({ status: 200, body: GOOD });
    expect(Object.keys(result.headers)).not.toContain("x-attempt-router-held");
  });

  it.each(Object.entries(KEPT))("stays with a provider that sends %s", async (name, [headers, ...pieces]) => {
    const { result, hops } = await proxy.sendAndCount(slug(name));
    expect(hops).toEqual([1, 0]);
    expect(result).toMatchObject({ status: 200, body: text(...pieces) });
    expect(result.headers).toMatchObject(headers);
  });

  it("gives the client the last provider's own answer where no attempt is left", async () => {
    const answers = {
      "an error as the first event": ERROR,
      "an error as the second event": CREATED + ERROR,
      "a stream without content": CREATED + 'data: {"delta":{"role":"assistant","content":""}}\n\n',
      "a JSON error with its length": '{"error":"x"}',
      "no body at all": "",
      "a page": "<html>",
    };
    for (const [name, body] of Object.entries(answers)) {
      const { result, hops } = await proxy.sendAndCount(`${slug(name)}?both`);
      expect(hops).toEqual([1, 1]);
      expect(result).toMatchObject({ status: 200, body });
      expect(Object.keys(result.headers)).not.toContain("x-attempt-router-held");
    }
  });

  it("gives the client every answer byte for byte over HTTP/2", async () => {
    for (const [name, [, ...pieces]] of Object.entries(KEPT)) {
      const response = await proxy.send(slug(name), { protocol: "http2" });
      expect(response).toMatchObject({ status: 200, body: text(...pieces) });
    }
  });

  it("lets no content wait: the client has it before the provider sends more", async () => {
    let more = (): void => undefined;
    FIRST.set("/live", (answer) => {
      stalls(EVENTS, PING, CREATED, CONTENT)(answer, undefined as never);
      more = () => (answer as http.ServerResponse).end(CONTENT);
    });
    const call = http.get({ port: proxy.envoy.port("ingress"), path: "/live", agent: false });
    const [response] = (await once(call, "response")) as [http.IncomingMessage];
    response.setEncoding("latin1");
    let body = "";
    response.on("data", (piece: string) => (body += piece));
    await waitFor("the first content", () => body === PING + CREATED + CONTENT);
    more();
    await once(response, "end");
    expect(body).toBe(PING + CREATED + CONTENT + CONTENT);
  });

  it("holds no answer of a client that leaves", async () => {
    const { first } = proxy.providers;
    const [requests, aborted] = [first?.requests ?? 0, first?.aborted ?? 0];
    const call = http.get({ port: proxy.envoy.port("ingress"), path: slug("comments for ever"), agent: false });
    call.on("error", () => undefined);
    await waitFor("the request", () => first?.requests === requests + 1);
    call.destroy();
    await waitFor("the provider to be left", () => first?.aborted === aborted + 1);
    expect(await proxy.send(slug("content at once"))).toMatchObject({ status: 200 });
  });

  it("leaves alone what has no content: HEAD, 204, and errors", async () => {
    FIRST.set("/none", (answer) => void (answer as http.ServerResponse).writeHead(204).end());
    FIRST.set(
      "/missing",
      (answer) => void (answer as http.ServerResponse).writeHead(404, JSON_TYPE).end('{"error":1}'),
    );
    for (const [method, path, status] of [
      ["HEAD", slug("a JSON error"), 200],
      ["HEAD", slug("no body at all"), 200],
      ["GET", "/none", 204],
      ["GET", "/missing", 404],
    ] as const) {
      const { result, hops } = await proxy.sendAndCount(path, { method });
      expect(hops).toEqual([1, 0]);
      expect(result.status).toBe(status);
    }
  });

  it("lets no provider name the status that the client gets", async () => {
    FIRST.set("/forged", says({ ...EVENTS, "x-attempt-router-held": "418" }, CONTENT));
    const { status, headers } = await proxy.send("/forged");
    expect(status).toBe(200);
    expect(Object.keys(headers)).not.toContain("x-attempt-router-held");
  });

  it("counts", async () => {
    const names = ["held_error", "held_empty", "held_too_large", "held_encoded", "held_given_back"];
    const counts = async (): Promise<number[]> => Promise.all(names.map((name) => proxy.counter(name)));
    const before = await counts();
    const paths = [
      "an error as the first event",
      "a stream of comments",
      "more comments than may be held",
      "compressed",
    ];
    for (const name of paths) await proxy.send(slug(name));
    await proxy.send(`${slug("a page")}?both`);
    const after = await counts();
    expect(after.map((count, index) => count - (before[index] ?? 0))).toEqual([3, 1, 1, 1, 1]);
  });
});

describe.each(versions.versions)("the time for an attempt on Envoy %s", (version) => {
  let proxy: Holding;

  beforeAll(async () => {
    const retries = { per_try_timeout: "0.3s" };
    const providers = { first: play(true), second: play(false) };
    proxy = await Holding.start(version, { providers, retries, hold: SETTINGS });
  });
  afterAll(async () => {
    await proxy.stop();
  });

  it.each(Object.keys(SILENT))(
    "ends with the first content, so that the next provider serves after %s",
    async (name) => {
      const { result, hops } = await proxy.sendAndCount(slug(name));
      expect(hops).toEqual([1, 1]);
      expect(result).toMatchObject({ status: 200, body: GOOD });
    },
  );

  it("is over for the last provider, too: 504", async () => {
    const { result, hops } = await proxy.sendAndCount(`${slug("silence after a ping")}?both`);
    expect(hops).toEqual([1, 1]);
    expect(result.status).toBe(504);
  });

  it("does not end what has begun", async () => {
    FIRST.set("/slow", (answer) => {
      stalls(EVENTS, CONTENT)(answer, undefined as never);
      // Longer than an attempt may take.
      setTimeout(() => void (answer as http.ServerResponse).end(CONTENT), 600);
    });
    const { result, hops } = await proxy.sendAndCount("/slow");
    expect(hops).toEqual([1, 0]);
    expect(result).toMatchObject({ status: 200, body: CONTENT + CONTENT });
  });
});

describe.each(versions.versions)("the access log of held answers on Envoy %s", (version) => {
  it("has the status that the client got", async () => {
    const proxy = await Holding.start(version, {
      providers: { first: play(true), second: play(false) },
      hold: SETTINGS,
    });
    await proxy.send(`${slug("an error as the first event")}?both`);
    await proxy.send(slug("an error as the first event"));
    expect(proxy.envoy.log.match(/hold_response/g)).toHaveLength(1);
    const lines = await proxy.stop((directory) => readFile(join(directory, LOG), "utf8"));
    expect(lines?.trim().split("\n")).toEqual(["200 URX via_upstream second", "200 - via_upstream second"]);
  });
});
