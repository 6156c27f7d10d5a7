// Envoy's matchers of values, as verdicts.

import type { HeaderMatcher, Json, NamedMatcher, StringMatcher, ValueMatcher } from "../model/index.js";
import { fullMatch } from "./regex.js";
import { headerLines, type ExplainedRequest } from "./request.js";
import { anyOf, inverted, no, unknown, yes, type Verdict } from "./verdict.js";

/** Whether a string matcher takes a value; `what` names the value in the reason. */
export function matchString(matcher: StringMatcher, value: string, what: string): Verdict {
  if (matcher.type === "other") return unknown(`${what}: ${matcher.field} cannot be decided here`);
  const wanted = `${matcher.type === "regex" ? "the expression " : ""}${JSON.stringify(matcher.text)}`;
  const holds = matchText(matcher.type, matcher.text, value, matcher.ignoreCase);
  if (holds === undefined) return unknown(`${what}: ${wanted} is an expression that only RE2 can decide`);
  return { holds, because: `${what} ${holds ? VERBS[matcher.type][0] : VERBS[matcher.type][1]} ${wanted}` };
}

const VERBS: Readonly<Record<"exact" | "prefix" | "suffix" | "contains" | "regex", readonly [string, string]>> = {
  exact: ["is", "is not"],
  prefix: ["starts with", "does not start with"],
  suffix: ["ends with", "does not end with"],
  contains: ["contains", "does not contain"],
  regex: ["matches", "does not match"],
};

function matchText(type: keyof typeof VERBS, text: string, value: string, ignoreCase: boolean): boolean | undefined {
  if (type === "regex") return fullMatch(text, value, ignoreCase);
  const [wanted, found] = ignoreCase ? [text.toLowerCase(), value.toLowerCase()] : [text, value];
  if (type === "exact") return found === wanted;
  if (type === "prefix") return found.startsWith(wanted);
  return type === "suffix" ? found.endsWith(wanted) : found.includes(wanted);
}

/** `envoy.config.route.v3.HeaderMatcher` on the headers of a request. */
export function matchHeader(matcher: HeaderMatcher, request: ExplainedRequest): Verdict {
  return matchHeaderLines(matcher, headerLines(request, matcher.name));
}

/** The same on the lines of a header: one that fits is enough. */
export function matchHeaderLines(matcher: HeaderMatcher, given: readonly string[]): Verdict {
  const { test, name, invert } = matcher;
  const what = `header ${name}`;
  if (test.type === "present") {
    const present = given.length > 0 || matcher.treatMissingAsEmpty;
    return inverted({ holds: present === test.present, because: `${what} is ${present ? "there" : "absent"}` }, invert);
  }
  const lines = given.length === 0 && matcher.treatMissingAsEmpty ? [""] : given;
  // Envoy inverts the result for a value that is there; an absent one matches neither way.
  if (lines.length === 0) return no(`${what} is absent`);
  const verdicts = lines.map((line) =>
    test.type === "range" ? matchRange(test, line, what) : matchString(test.match, line, what),
  );
  return inverted(anyOf(verdicts, what), invert);
}

function matchRange(range: { start: number; end: number }, value: string, what: string): Verdict {
  const number = /^[+-]?\d+$/.test(value) ? Number(value) : NaN;
  const holds = number >= range.start && number < range.end;
  return { holds, because: `${what} is ${holds ? "" : "not "}in ${range.start}..${range.end}` };
}

/** A query parameter or a cookie: an absent value matches nothing. */
export function matchNamed(matcher: NamedMatcher, value: string | undefined, what: string): Verdict {
  const { test, invert } = matcher;
  if (test.type === "present") {
    const present = value !== undefined;
    return inverted({ holds: present === test.present, because: `${what} is ${present ? "there" : "absent"}` }, invert);
  }
  if (value === undefined) return inverted(no(`${what} is absent`), invert);
  return inverted(matchString(test.match, value, what), invert);
}

/** `envoy.type.matcher.v3.ValueMatcher` on a metadata value; undefined: it is absent. */
export function matchValue(matcher: ValueMatcher, value: Json | undefined, what: string): Verdict {
  switch (matcher.type) {
    case "other":
      return unknown(`${what}: ${matcher.field} cannot be decided here`);
    case "present":
      return {
        holds: (value !== undefined) === matcher.present,
        because: `${what} is ${value === undefined ? "absent" : "there"}`,
      };
    case "null":
      return { holds: value === null, because: `${what} is ${value === null ? "" : "not "}null` };
    case "any_of":
      return anyOf(
        matcher.matchers.map((one) => matchValue(one, value, what)),
        what,
      );
    case "list":
      if (!Array.isArray(value)) return no(`${what} is no list`);
      return anyOf(
        value.map((item) => matchValue(matcher.item, item, what)),
        `${what} is empty`,
      );
    case "string":
      return typeof value === "string" ? matchString(matcher.match, value, what) : no(`${what} is no string`);
    default:
      return matchScalar(matcher, value, what);
  }
}

function matchScalar(
  matcher: Extract<ValueMatcher, { type: "bool" | "number" | "range" }>,
  value: Json | undefined,
  what: string,
): Verdict {
  if (matcher.type === "bool") {
    const holds = value === matcher.value;
    return { holds, because: `${what} is ${holds ? "" : "not "}${String(matcher.value)}` };
  }
  if (typeof value !== "number") return no(`${what} is no number`);
  const holds = matcher.type === "number" ? value === matcher.exact : value >= matcher.start && value < matcher.end;
  return holds ? yes(`${what} is ${value}`) : no(`${what} is ${value}`);
}
