// Stand-ins for the keys of a config: the machine that runs the tests need not have them.

import type { Json, JsonMessage } from "../model/index.js";

const GENERIC = ".generic.v3.Generic";
const STAND_IN: JsonMessage = { inline_string: "key" };

/** A bootstrap as JSON in which a key stands for each one that comes from a file, an environment variable or a secret service. */
export function withLocalKeys(root: JsonMessage): JsonMessage {
  const names = new Set<string>();
  const changed = withoutServices(root, names) as JsonMessage;
  const resources = messageOf(changed["static_resources"]);
  const own = listOf(resources["secrets"]).map(localSecret);
  const known = new Set(own.map((secret) => secret["name"]));
  const more = [...names].filter((name) => !known.has(name)).map(secretOf);
  if (own.length + more.length === 0) return changed;
  return { ...changed, static_resources: { ...resources, secrets: [...own, ...more] } };
}

/** Credentials that a service brings become names of secrets that stand in the bootstrap, which `names` is given. */
function withoutServices(value: Json, names: Set<string>): Json {
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return value.map((item) => withoutServices(item, names));
  const entries = Object.entries(value).map(([key, child]): [string, Json] => [key, withoutServices(child, names)]);
  const message: JsonMessage = Object.fromEntries(entries);
  if (typeof message["@type"] !== "string" || !message["@type"].endsWith(GENERIC)) return message;
  const { name } = messageOf(message["credential"]);
  if (typeof name !== "string") return message;
  names.add(name);
  return { ...message, credential: { name } };
}

function localSecret(secret: JsonMessage): JsonMessage {
  return "generic_secret" in secret ? secretOf(typeof secret["name"] === "string" ? secret["name"] : "") : secret;
}

function secretOf(name: string): JsonMessage {
  return { name, generic_secret: { secret: STAND_IN } };
}

function messageOf(value: Json | undefined): JsonMessage {
  return value !== null && typeof value === "object" && !Array.isArray(value) ? value : {};
}

function listOf(value: Json | undefined): JsonMessage[] {
  return Array.isArray(value) ? value.map(messageOf) : [];
}
