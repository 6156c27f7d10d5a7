// What the common APIs of language models send in the place of an answer, as settings of `hold_response`. To add one: an entry
// here, its name in docs/hold-response.md, its streams in tests/envoy/hold-response-presets.test.ts.

import type { Json } from "../../yaml/scalar.js";

type Rule = { [key: string]: Json };

/** The settings that a name stands for. */
export interface Preset {
  not_content: Rule[];
  errors: Rule[];
}

/** The status of an answer without content, where a preset is used and `empty` says nothing. */
export const EMPTY_STATUS = 502;

const at = (...path: string[]) => ({ path });
const is = (value: string, ...path: string[]): Rule => ({ ...at(...path), value });
const present = (...path: string[]): Rule => ({ ...at(...path), present: true });
const absent = (...path: string[]): Rule => ({ ...at(...path), present: false });
const empty = (...path: string[]): Rule => ({ ...at(...path), empty: true });
const only = (names: string[], ...path: string[]): Rule => ({ ...at(...path), only: names });
const json = (...conditions: Rule[]): Rule => ({
  json: conditions.length === 1 ? (conditions[0] as Rule) : conditions,
});

const COMMENT: Rule = { comment: true };
const DONE: Rule = { data: "[DONE]" };

/** Errors by the word that stands at a path, in the order in which they are looked at. */
const byWord = (statuses: Record<string, number>, ...path: string[]): Rule[] =>
  Object.entries(statuses).map(([word, status]) => ({ ...json(is(word, ...path)), status }));

/** The words that OpenAI's error codes and types are, and those of services that speak its protocol. */
const OPENAI_WORDS = {
  rate_limit_exceeded: 429,
  rate_limit_error: 429,
  insufficient_quota: 429,
  invalid_request_error: 400,
  invalid_prompt: 400,
  authentication_error: 401,
  invalid_api_key: 401,
  server_is_overloaded: 503,
  service_unavailable_error: 503,
  overloaded_error: 503,
};

/** Chat completions: https://platform.openai.com/docs/api-reference/chat-streaming and /docs/guides/error-codes. */
const OPENAI_CHAT: Preset = {
  not_content: [
    COMMENT,
    DONE,
    json(only(["role"], "choices", "0", "delta"), empty("choices", "0", "finish_reason")),
    // What a content filter says of the prompt comes before the first choice, the usage after the last.
    json(empty("choices"), present("object")),
  ],
  errors: [
    ...byWord(OPENAI_WORDS, "error", "code"),
    ...byWord(OPENAI_WORDS, "error", "type"),
    { ...json(present("error")), status: 500, status_path: ["error", "code"] },
    { event: "error", status: 500 },
  ],
};

const RESPONSES_LIFECYCLE = [
  ...["response.created", "response.queued", "response.in_progress", "response.keep_alive"],
  ...["response.output_item.added", "response.content_part.added", "response.reasoning_summary_part.added"],
];

/** Responses: https://platform.openai.com/docs/api-reference/responses-streaming. */
const OPENAI_RESPONSES: Preset = {
  not_content: [COMMENT, DONE, ...RESPONSES_LIFECYCLE.map((type) => json(is(type, "type"))), { event: "keepalive" }],
  errors: [
    ...byWord(OPENAI_WORDS, "response", "error", "code"),
    ...byWord(OPENAI_WORDS, "error", "code"),
    ...byWord(OPENAI_WORDS, "error", "type"),
    ...["rate_limit_exceeded", "insufficient_quota"].map((code) => ({
      ...json(is("error", "type"), is(code, "code")),
      status: 429,
    })),
    { ...json(is("response.failed", "type")), status: 500 },
    { ...json(is("error", "type")), status: 500 },
    { ...json(present("error")), status: 500, status_path: ["error", "code"] },
    { event: "error", status: 500 },
  ],
};

/** Messages: https://docs.anthropic.com/en/api/errors and /en/docs/build-with-claude/streaming. */
const ANTHROPIC_MESSAGES: Preset = {
  not_content: [
    COMMENT,
    { event: "ping" },
    json(is("ping", "type")),
    json(is("message_start", "type")),
    json(is("content_block_start", "type"), only(["type"], "content_block")),
  ],
  errors: [
    ...byWord(
      {
        overloaded_error: 529,
        rate_limit_error: 429,
        invalid_request_error: 400,
        authentication_error: 401,
        billing_error: 402,
        permission_error: 403,
        not_found_error: 404,
        request_too_large: 413,
        timeout_error: 504,
      },
      "error",
      "type",
    ),
    { ...json(is("error", "type")), status: 500 },
    { event: "error", status: 500 },
  ],
};

/** generateContent and streamGenerateContent: https://ai.google.dev/api/generate-content and /gemini-api/docs/troubleshooting. */
const GEMINI: Preset = {
  not_content: [
    COMMENT,
    json(empty("candidates"), empty("promptFeedback"), absent("error")),
    json(
      only([], "candidates", "0", "content", "parts", "0"),
      absent("candidates", "0", "content", "parts", "1"),
      empty("candidates", "0", "finishReason"),
    ),
    json(
      empty("candidates", "0", "content", "parts"),
      empty("candidates", "0", "finishReason"),
      empty("promptFeedback"),
      absent("error"),
    ),
  ],
  errors: [
    ...byWord({ RESOURCE_EXHAUSTED: 429, UNAVAILABLE: 503, DEADLINE_EXCEEDED: 504 }, "error", "status"),
    { ...json(present("error")), status: 500, status_path: ["error", "code"] },
  ],
};

/** All presets by name. */
export const PRESETS: Readonly<Record<string, Preset>> = {
  openai_chat: OPENAI_CHAT,
  openai_responses: OPENAI_RESPONSES,
  anthropic_messages: ANTHROPIC_MESSAGES,
  gemini: GEMINI,
};
