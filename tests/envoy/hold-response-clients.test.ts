// The client libraries of two vendors, streaming through Envoy from providers that fail in turn.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import versions from "../../tools/envoy/versions.json" with { type: "json" };
import { Holding } from "../support/holding.js";
import { EVENTS, JSON_TYPE, says, stalls, type Play } from "../support/providers.js";

/** What the tests use of a client: what it is given, and the stream that comes back. */
type Stream = AsyncIterable<Record<string, unknown>>;
interface OpenAi {
  chat: { completions: { create: (request: object) => Promise<Stream> } };
}
interface Anthropic {
  messages: { create: (request: object) => Promise<Stream> };
}
type Client<T> = new (options: { apiKey: string; baseURL: string; maxRetries: number }) => T;

const { default: openAi } = (await import(nameOf("openai"))) as { default: Client<OpenAi> };
const { default: anthropic } = (await import(nameOf("@anthropic-ai/sdk"))) as { default: Client<Anthropic> };

/** Kept from the compiler, which would read tens of thousands of lines of types. */
function nameOf(library: string): string {
  return library;
}

const json = (value: unknown): string => JSON.stringify(value);
const chunk = (delta: object, finish_reason: string | null = null): string =>
  `data: ${json({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta, finish_reason }] })}\n\n`;
const event = (type: string, more: object = {}): string => `event: ${type}\ndata: ${json({ type, ...more })}\n\n`;

const CHAT = {
  role: chunk({ role: "assistant", content: "" }),
  failure: `data: ${json({ error: { message: "overloaded", type: "server_error" } })}\n\n`,
  good: chunk({ content: "Hello" }) + chunk({ content: ", world" }) + chunk({}, "stop") + "data: [DONE]\n\n",
};
const MESSAGES = {
  start: event("message_start", {
    message: {
      id: "m",
      type: "message",
      role: "assistant",
      content: [],
      model: "m",
      usage: { input_tokens: 1, output_tokens: 1 },
    },
  }),
  failure: event("error", { error: { type: "overloaded_error", message: "Overloaded" } }),
  good:
    event("content_block_start", { index: 0, content_block: { type: "text", text: "" } }) +
    ["Hello", ", world"]
      .map((text) => event("content_block_delta", { index: 0, delta: { type: "text_delta", text } }))
      .join("") +
    event("content_block_stop", { index: 0 }) +
    event("message_delta", { delta: { stop_reason: "end_turn" }, usage: { output_tokens: 2 } }) +
    event("message_stop"),
};

/** By the last part of the path: what each provider does. */
const byApi =
  (chat: Play, messages: Play): Play =>
  (answer, request) =>
    (request.url?.endsWith("/messages") === true ? messages : chat)(answer, request);

const PROVIDERS = {
  // Silent after the beginning.
  a: byApi(stalls(EVENTS, CHAT.role), stalls(EVENTS, MESSAGES.start, event("ping"))),
  // A failure in the stream, and one that is no stream at all.
  b: byApi(
    says(EVENTS, CHAT.role, CHAT.failure),
    says(JSON_TYPE, json({ type: "error", error: { type: "overloaded_error" } })),
  ),
  c: byApi(
    says(EVENTS, CHAT.role, ...Array.from(CHAT.good)),
    says(EVENTS, MESSAGES.start, ...Array.from(MESSAGES.good)),
  ),
};
const FAILING = {
  a: byApi(says(EVENTS, CHAT.role, CHAT.failure), says(EVENTS, MESSAGES.start, MESSAGES.failure)),
};

async function textOf(stream: Stream, text: (event: never) => string | undefined): Promise<string> {
  let all = "";
  for await (const one of stream) all += text(one as never) ?? "";
  return all;
}

async function chat(port: number): Promise<string> {
  const client = new openAi({ apiKey: "k", baseURL: `http://127.0.0.1:${port}/v1`, maxRetries: 0 });
  const stream = await client.chat.completions.create({
    model: "m",
    messages: [{ role: "user", content: "Hi" }],
    stream: true,
  });
  return textOf(stream, (one: { choices: { delta: { content?: string } }[] }) => one.choices[0]?.delta.content);
}

async function messages(port: number): Promise<string> {
  const client = new anthropic({ apiKey: "k", baseURL: `http://127.0.0.1:${port}`, maxRetries: 0 });
  const request = { model: "m", max_tokens: 9, messages: [{ role: "user", content: "Hi" }], stream: true };
  return textOf(await client.messages.create(request), (one: { delta?: { text?: string } }) => one.delta?.text);
}

const hold = { presets: ["openai_chat", "anthropic_messages"] };
const retries = { per_try_timeout: "1s" };

describe.each(versions.versions)("client libraries on Envoy %s", (version) => {
  let proxy: Holding;

  beforeAll(async () => {
    proxy = await Holding.start(version, { providers: PROVIDERS, hold, retries });
  });
  afterAll(async () => {
    await proxy.stop();
  });

  it.each([
    ["openai", chat],
    ["@anthropic-ai/sdk", messages],
  ])("%s gets the stream of the third provider, and nothing of the others", async (_, ask) => {
    const before = proxy.hops;
    expect(await ask(proxy.envoy.port("ingress"))).toBe("Hello, world");
    expect(proxy.hops).toEqual(Object.fromEntries(Object.entries(before).map(([name, count]) => [name, count + 1])));
  });

  it("says what the last provider said where all fail", async () => {
    const failing = await Holding.start(version, { providers: FAILING, hold, retries });
    try {
      const port = failing.envoy.port("ingress");
      await expect(chat(port)).rejects.toThrow("overloaded");
      await expect(messages(port)).rejects.toThrow(/overloaded/i);
    } finally {
      await failing.stop();
    }
  });
});
