import type { Finding } from "../findings.js";
import type { Cursor } from "../yaml/cursor.js";
import type { Json } from "../yaml/scalar.js";
import { isMessage, messageJson } from "./settings.js";

/** For each kind that a module can evaluate, the fields it needs; a cookie's ttl and path play no part in a pick. */
const SUPPORTED: Record<string, string[]> = {
  header: ["header_name"],
  cookie: ["name"],
  connection_properties: ["source_ip"],
  query_parameter: ["name"],
};

/**
 * The route's hash policies as RouteSettings carries them. What a module cannot see is a finding, and a policy that
 * never has a value takes its place, so that the others keep their position.
 */
export function hashPolicies(route: Cursor, findings: Finding[]): Json[] {
  return route.list("hash_policy").map((policy) => {
    const before = findings.length;
    const json = hashPolicy(policy, findings);
    return findings.length > before ? { connection_properties: {} } : json;
  });
}

function hashPolicy(policy: Cursor, findings: Finding[]): Json {
  const message = messageJson(policy, findings);
  if (!isMessage(message)) return message;
  const result: { [key: string]: Json } = {};
  for (const [kind, value] of Object.entries(message)) {
    if (kind === "terminal") result[kind] = value;
    else result[kind] = supported(policy, kind, value, findings);
  }
  return result;
}

function supported(policy: Cursor, kind: string, value: Json, findings: Finding[]): Json {
  const fields = SUPPORTED[kind];
  if (fields === undefined) {
    const kinds = Object.keys(SUPPORTED).join(", ");
    findings.push(policy.findingBelow([kind], `expected a hash policy that can be lowered (${kinds}), found ${kind}`));
    return value;
  }
  if (kind === "header" && isMessage(value) && "regex_rewrite" in value) {
    const message = "expected a header hash policy without regex_rewrite, which cannot be lowered, found one";
    findings.push(policy.findingBelow([kind, "regex_rewrite"], message));
  }
  if (!isMessage(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([name]) => fields.includes(name)));
}
