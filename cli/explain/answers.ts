// What a route's and its virtual host's settings say about the answers of attempts, as the module is told of it.

import type { Json, JsonMessage } from "../model/index.js";
import type { RetryRules } from "./retry-rules.js";

const OF_VIRTUAL_HOST = ["record_attempts", "steps", "min_attempt_time", "avoid_tried_clusters", "pick"];

/** A route's own settings with those about answers that its virtual host adds, and the times that `lower` writes beside them. */
export function withAnswers(own: JsonMessage, host: Json | undefined, rules: RetryRules): JsonMessage {
  const shared = host !== null && typeof host === "object" && !Array.isArray(host) ? host : {};
  const inherited = Object.fromEntries(Object.entries(shared).filter(([key]) => OF_VIRTUAL_HOST.includes(key)));
  const settings: JsonMessage = { ...inherited, ...own };
  if (settings["min_attempt_time"] === undefined || rules.timeout === 0) return settings;
  return { ...settings, timeout_ms: rules.timeout };
}
