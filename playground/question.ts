// The form of the request, as the question that `explain` answers.

import type { Question } from "../cli/explain/explain.js";
import { inOrder, readAnswer } from "../cli/explain/request.js";
import type { JsonMessage, Program } from "../cli/model/index.js";
import { routeConfigurationsOf } from "../cli/model/index.js";

/** The fields of the form by name, as text. */
export type Form = Readonly<Record<string, string>>;

/** A field cannot be read; the message says what was expected. */
export class FormError extends Error {
  override readonly name = "FormError";
}

/** @throws FormError */
export function questionOf(form: Form, program: Program): Question {
  const random = form["random"]?.trim() ?? "";
  if (random !== "" && !(/^\d{1,20}$/.test(random) && BigInt(random) < 2n ** 64n)) {
    throw new FormError("random value: an integer from 0 to 18446744073709551615 is expected");
  }
  return {
    answers: inOrder(words(form["statuses"]).map(answerOf)),
    down: words(form["down"]),
    request: {
      method: (form["method"]?.trim() || "GET").toUpperCase(),
      path: form["path"]?.trim() || suggestedPath(program),
      authority: form["authority"]?.trim() || "localhost",
      scheme: "http",
      headers: (form["headers"] ?? "").split("\n").flatMap(headerOf),
      metadata: metadataOf(form["metadata"] ?? ""),
      random: random === "" ? undefined : BigInt(random),
      client: "127.0.0.1",
    },
  };
}

/** The path of the first route with something to fall back on, so that a config shows something at once. */
export function suggestedPath(program: Program): string {
  const routes = routeConfigurationsOf(program).flatMap(({ virtualHosts }) =>
    virtualHosts.flatMap((host) => host.routes),
  );
  const route = routes.find(({ attempts }) => attempts !== undefined) ?? routes[0];
  const path = route?.match.path;
  return path !== undefined && "text" in path && path.type !== "safe_regex" ? path.text : "/";
}

function words(text: string | undefined): string[] {
  return (text ?? "").split(/[\s,]+/).filter((word) => word !== "");
}

function answerOf(word: string): NonNullable<ReturnType<typeof readAnswer>> {
  const answer = readAnswer(word);
  if (answer !== undefined) return answer;
  throw new FormError(`answers: statuses, reset, timeout, refused or refused-stream are expected, found ${word}`);
}

function headerOf(line: string): [string, string][] {
  if (line.trim() === "") return [];
  const at = line.indexOf(":", 1);
  if (at < 1) throw new FormError(`headers: a line "name: value" is expected, found ${line}`);
  return [[line.slice(0, at).trim().toLowerCase(), line.slice(at + 1).trim()]];
}

function metadataOf(text: string): Record<string, JsonMessage> {
  if (text.trim() === "") return {};
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new FormError(`metadata: ${error instanceof Error ? error.message : String(error)}`);
  }
  const isObject = (one: unknown): boolean => typeof one === "object" && one !== null && !Array.isArray(one);
  if (isObject(value) && Object.values(value as object).every(isObject)) return value as Record<string, JsonMessage>;
  throw new FormError('metadata: JSON by namespace is expected, like {"envoy.my_filter": {"priority_groups": []}}');
}
