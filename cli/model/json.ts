// Reading JSON values of a config whose shape nobody has checked: a value of another kind is as one that is absent.

import type { Json, JsonMessage } from "./origin.js";

export function isMessage(value: Json | undefined): value is JsonMessage {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

/** A message, empty where the value is none. */
export function messageOf(value: Json | undefined): JsonMessage {
  return isMessage(value) ? value : {};
}

/** The messages of a list, empty where the value is none. */
export function listOf(value: Json | undefined): JsonMessage[] {
  return Array.isArray(value) ? value.map(messageOf) : [];
}

export function textOf(value: Json | undefined): string | undefined {
  return typeof value === "string" ? value : undefined;
}
