// The streams that the documentation of each API shows, as one provider after another may send them.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PRESETS } from "../../cli/lower/hold/presets.js";
import versions from "../../tools/envoy/versions.json" with { type: "json" };
import { Holding } from "../support/holding.js";
import { EVENTS, JSON_TYPE, says, type Play } from "../support/providers.js";

type Json = Record<string, unknown>;

/** Events with nothing but data. */
const data = (...all: (Json | string)[]): string =>
  all.map((one) => `data: ${typeof one === "string" ? one : JSON.stringify(one)}\n\n`).join("");
/** Events that are called what their data says. */
const typed = (...all: Json[]): string =>
  all.map((one) => `event: ${String(one["type"])}\ndata: ${JSON.stringify(one)}\n\n`).join("");

const chunk = (delta: Json, finish_reason: string | null = null): Json => ({
  id: "chatcmpl-1",
  object: "chat.completion.chunk",
  created: 1,
  model: "m",
  choices: [{ index: 0, delta, logprobs: null, finish_reason }],
});
const ROLE = chunk({ role: "assistant", content: "", refusal: null });
const FILTERED = { ...chunk({}), choices: [], prompt_filter_results: [{ prompt_index: 0 }] };
const USAGE = { ...chunk({}), choices: [], usage: { total_tokens: 3 } };
const chatError = (error: Json): Json => ({ error });

const response = (more: Json = {}): Json => ({ id: "resp_1", object: "response", output: [], error: null, ...more });
const created = { type: "response.created", response: response({ status: "in_progress" }) };
const inProgress = { type: "response.in_progress", response: response({ status: "in_progress" }) };
const itemAdded = { type: "response.output_item.added", output_index: 0, item: { type: "message", content: [] } };
const partAdded = { type: "response.content_part.added", part: { type: "output_text", text: "" } };
const failed = (code: string): Json => ({
  type: "response.failed",
  response: response({ status: "failed", error: { code, message: "m" } }),
});

const started = {
  type: "message_start",
  message: { id: "msg_1", type: "message", role: "assistant", content: [], usage: { input_tokens: 1 } },
};
const block = (content_block: Json): Json => ({ type: "content_block_start", index: 0, content_block });
const PING = { type: "ping" };
const messagesError = (type: string): Json => ({ type: "error", error: { type, message: "m" } });

const parts = (...all: Json[]): Json => ({ candidates: [{ content: { parts: all, role: "model" }, index: 0 }] });
const geminiError = (code: number, status: string): Json => ({ error: { code, message: "m", status } });

/** Answers of an API: those that are left, with the status that they count as; those that are kept. */
interface Answers {
  left: Record<string, [number, Play]>;
  kept: Record<string, [Record<string, string>, string]>;
}

const stream = (text: string): Play => says(EVENTS, ...(text.match(/[^]{1,40}/g) ?? []));
const whole = (value: unknown): Play => says(JSON_TYPE, JSON.stringify(value));
const kept = (text: string): [Record<string, string>, string] => [EVENTS, text];
const keptWhole = (value: unknown): [Record<string, string>, string] => [JSON_TYPE, JSON.stringify(value)];

const API: Record<string, Answers> = {
  openai_chat: {
    left: {
      "a role and nothing more": [502, stream(data(ROLE))],
      "a role and the end": [502, stream(data(ROLE, "[DONE]"))],
      "the verdict of a content filter and the end": [502, stream(data(FILTERED, USAGE, "[DONE]"))],
      "a comment and an error": [
        500,
        stream(`: PROCESSING\n\n${data(chatError({ message: "m", type: "server_error" }))}`),
      ],
      "an error after the role": [429, stream(data(ROLE, chatError({ message: "m", code: "rate_limit_exceeded" })))],
      "an error with a number": [503, stream(data(chatError({ message: "m", code: 503 })))],
      "an error by the name of the event": [500, stream("event: error\ndata: something broke\n\n")],
      "an error as JSON": [
        429,
        whole(chatError({ message: "m", type: "insufficient_quota", param: null, code: null })),
      ],
      "no stream": [502, stream("")],
    },
    kept: {
      text: kept(data(ROLE, chunk({ content: "Hi" }), chunk({}, "stop"), "[DONE]")),
      "text with the role": kept(data(chunk({ role: "assistant", content: "Hi" }), "[DONE]")),
      "a call of a tool": kept(data(chunk({ role: "assistant", content: null, tool_calls: [{ index: 0, id: "c" }] }))),
      "a call of a tool in one chunk": kept(data(chunk({ content: "", tool_calls: [{ id: "c" }] }, "tool_calls"))),
      "a refusal": kept(data(ROLE, chunk({ refusal: "No" }))),
      thoughts: kept(data(ROLE, chunk({ content: null, reasoning_content: "Hm" }))),
      "an end without text": kept(data(ROLE, chunk({}, "stop"), "[DONE]")),
      JSON: keptWhole({ object: "chat.completion", choices: [{ message: { content: "Hi" } }], error: null }),
      "an error after text": kept(data(chunk({ content: "Hi" }), chatError({ message: "m" }))),
    },
  },
  openai_responses: {
    left: {
      "nothing but a beginning": [502, stream(typed(created, inProgress, itemAdded, partAdded))],
      "a failure": [500, stream(typed(created, inProgress, failed("server_error")))],
      "a failure for its rate": [429, stream(typed(created, failed("rate_limit_exceeded")))],
      "an error": [500, stream(typed({ type: "error", code: "ERR_SOMETHING", message: "m", param: null }))],
      "an error for its rate": [429, stream(typed({ type: "error", code: "rate_limit_exceeded", message: "m" }))],
      "a keep-alive and an error": [
        500,
        stream(`event: keepalive\ndata: {}\n\n${typed({ type: "error", code: "x" })}`),
      ],
      "an error as JSON": [500, whole(response({ status: "failed", error: { code: "server_error", message: "m" } }))],
    },
    kept: {
      text: kept(typed(created, itemAdded, partAdded, { type: "response.output_text.delta", delta: "Hi" })),
      "a call of a function": kept(typed(created, { type: "response.function_call_arguments.delta", delta: "{" })),
      "the end of an item": kept(typed(created, { type: "response.output_item.done", item: { type: "reasoning" } })),
      "a whole response": kept(typed(created, { type: "response.completed", response: response() })),
      JSON: keptWhole(response({ status: "completed" })),
    },
  },
  anthropic_messages: {
    left: {
      "overload at once": [529, stream(typed(messagesError("overloaded_error")))],
      "overload after the beginning": [529, stream(typed(started, PING, messagesError("overloaded_error")))],
      "overload in a block": [
        529,
        stream(typed(started, block({ type: "text", text: "" }), messagesError("overloaded_error"))),
      ],
      "too high a rate": [429, stream(typed(messagesError("rate_limit_error")))],
      "an error of the API": [500, stream(typed(messagesError("api_error")))],
      "an error that is new": [500, stream(typed(started, messagesError("some_error")))],
      "an error as JSON": [529, whole(messagesError("overloaded_error"))],
      "pings and the end": [502, stream(typed(started, PING, PING))],
    },
    kept: {
      text: kept(
        typed(started, block({ type: "text", text: "" }), PING, {
          type: "content_block_delta",
          index: 0,
          delta: { type: "text_delta", text: "Hi" },
        }),
      ),
      "a call of a tool": kept(typed(started, block({ type: "tool_use", id: "t", name: "n", input: {} }))),
      thoughts: kept(
        typed(started, block({ type: "thinking", thinking: "", signature: "" }), {
          type: "content_block_delta",
          delta: { type: "thinking_delta", thinking: "Hm" },
        }),
      ),
      "an end without text": kept(typed(started, { type: "message_delta", delta: { stop_reason: "end_turn" } })),
      JSON: keptWhole({ type: "message", role: "assistant", content: [{ type: "text", text: "Hi" }] }),
    },
  },
  gemini: {
    left: {
      overload: [503, stream(data(geminiError(503, "UNAVAILABLE")))],
      "too high a rate": [429, stream(data(parts({ text: "" }), geminiError(429, "RESOURCE_EXHAUSTED")))],
      "an error by its code": [500, stream(data(geminiError(500, "INTERNAL")))],
      "an error as JSON": [503, whole(geminiError(503, "UNAVAILABLE"))],
      "an error in a list": [503, whole([geminiError(503, "UNAVAILABLE")])],
      "usage and no candidate": [502, stream(data({ usageMetadata: { promptTokenCount: 3 }, modelVersion: "m" }))],
      "a candidate without parts": [502, stream(data({ candidates: [{ content: { role: "model" }, index: 0 }] }))],
    },
    kept: {
      text: kept(data(parts({ text: "" }), parts({ text: "Hi" }))),
      "a call of a function": kept(data(parts({ functionCall: { name: "f", args: {} } }))),
      "a prompt that is blocked": kept(data({ promptFeedback: { blockReason: "SAFETY" } })),
      "an end without text": kept(data({ candidates: [{ finishReason: "MAX_TOKENS", index: 0 }] })),
      "a list": [
        JSON_TYPE,
        `[${JSON.stringify(parts({ text: "Hi" }))},\n${JSON.stringify(geminiError(500, "INTERNAL"))}]`,
      ],
      JSON: keptWhole(parts({ text: "Hi" })),
    },
  },
};

const GOOD = "data: another provider\n\n";
const slug = (name: string): string => `/${name.replaceAll(/\W+/g, "-")}`;

it("every preset has answers here", () => {
  expect(Object.keys(API)).toEqual(Object.keys(PRESETS));
});

describe.each(
  versions.versions.flatMap((version) => Object.entries(API).map(([name, api]) => ({ version, name, api }))),
)("the preset $name on Envoy $version", ({ version, name, api }) => {
  let proxy: Holding;

  beforeAll(async () => {
    const plays = new Map<string, Play>();
    for (const [answer, [, play]] of Object.entries(api.left)) plays.set(slug(answer), play);
    for (const [answer, [headers, text]] of Object.entries(api.kept)) {
      plays.set(slug(`kept ${answer}`), says(headers, ...(text.match(/[^]{1,40}/g) ?? [])));
    }
    const first: Play = (answer, request) => plays.get(request.url ?? "")?.(answer, request);
    const providers = { first, second: says(EVENTS, GOOD) };
    const retries = { retry_on: "5xx,retriable-status-codes" };
    proxy = await Holding.start(version, { providers, hold: { presets: [name] }, retries });
  });
  afterAll(async () => {
    await proxy.stop();
  });

  it.each(Object.entries(api.left))("goes on after %s", async (answer, [status]) => {
    const count = `cluster.first.retry.upstream_rq_${status}`;
    const before = await proxy.envoy.admin.stat(count);
    const { result, hops } = await proxy.sendAndCount(slug(answer));
    expect(hops).toEqual([1, 1]);
    expect(result).toMatchObject({ status: 200, body: GOOD });
    expect(await proxy.envoy.admin.stat(count)).toBe(before + 1);
  });

  it.each(Object.entries(api.kept))("stays with %s", async (answer, [, text]) => {
    const { result, hops } = await proxy.sendAndCount(slug(`kept ${answer}`));
    expect(hops).toEqual([1, 0]);
    expect(result).toMatchObject({ status: 200, body: text });
  });
});
