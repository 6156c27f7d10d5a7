// The lowest and the highest legal value of every number in the settings, and the values next to them, which are not.
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { WasmHost, type RequestSpec } from "../../cli/host/index.js";
import { groupOf, MODULE, routeWith, settingsOf } from "./routes.js";
import { specifiedRequest, specifier } from "./specifier-routes.js";

const MOST = 2 ** 32 - 1;
/** 10,000 years, the longest duration that a protobuf holds. */
const LONGEST = 315_576_000_000;
const host = WasmHost.load(MODULE);

type Make = (value: JsonValue) => RequestSpec;

const inRoute =
  (more: (value: JsonValue) => JsonObject): Make =>
  (value) =>
    routeWith(settingsOf([groupOf(1)], {}, more(value)));
const inOverride =
  (fields: (value: JsonValue) => JsonObject): Make =>
  (value) =>
    specifiedRequest({ route: [specifier("RouteOverride", fields(value))] });
const inCondition = (when: (value: JsonValue) => JsonObject): Make =>
  inOverride((value) => ({ cluster: "c", when: when(value) }));
const step = (value: JsonValue) => ({ steps: [{ on: { statuses: [value] }, next: "NEXT" }] });

const WHOLE: [string, number, number, Make][] = [
  ["weight", 1, MOST, (weight) => routeWith(settingsOf([groupOf(weight as number)]))],
  ["slots", 1, 100, inRoute((slots) => ({ slots }))],
  ["availability_interval_ms", 10, 60_000, inRoute((value) => ({ availability_interval_ms: value }))],
  ["per_try_timeout_ms", 1, MOST, inRoute((value) => ({ record_attempts: true, per_try_timeout_ms: value }))],
  ["timeout_ms", 1, MOST, inRoute((value) => ({ record_attempts: true, timeout_ms: value }))],
  ["statuses[0]", 100, 599, inRoute(step)],
  ["numerator", 0, MOST, inCondition((numerator) => ({ fraction: { numerator } }))],
  ["num_retries", 0, MOST, inOverride((num_retries) => ({ retry_policy: { retry_on: "5xx", num_retries } }))],
  [
    "retriable_status_codes[0]",
    100,
    599,
    inOverride((code) => ({ retry_policy: { retry_on: "5xx", retriable_status_codes: [code] } })),
  ],
  [
    "weighted_clusters[1].weight",
    0,
    MOST,
    inOverride((weight) => ({
      weighted_clusters: [
        { name: "a", weight: 1 },
        { name: "b", weight },
      ],
    })),
  ],
];

test.each(WHOLE)("%s", (field, lowest, highest, make) => {
  for (const value of [lowest, highest, String(lowest), String(highest)]) {
    expect([value, problemOf(make(value))]).toEqual([value, undefined]);
  }
  const range = `a whole number from ${lowest} to ${highest}`;
  for (const value of [lowest - 1, highest + 1, lowest + 0.5, String(highest + 1), "", "x", true]) {
    const problem = problemOf(make(value));
    expect(problem).toMatch(new RegExp(`${field.replace(/[[\]]/g, "\\$&")}: expected ${range}, found `));
  }
});

const DURATIONS: [string, Make][] = [
  ["timeout", inOverride((timeout) => ({ timeout }))],
  ["per_try_timeout", inOverride((value) => ({ retry_policy: { retry_on: "5xx", per_try_timeout: value } }))],
  ["min_attempt_time", inRoute((min_attempt_time) => ({ min_attempt_time }))],
];

test.each(DURATIONS)("%s", (field, make) => {
  for (const value of ["0s", "0.001s", `${LONGEST}s`]) {
    expect([value, problemOf(make(value))]).toEqual([value, undefined]);
  }
  for (const value of [`${LONGEST + 1}s`, "-1s", "1", "s", "1 s", "1m", "1s ", "1e3s", "1.2.3s", 1]) {
    const problem = problemOf(make(value)) ?? "";
    expect([value, problem]).toEqual([value, expect.stringContaining(`${field}: expected a duration in seconds`)]);
  }
});

test("conditions are nested at most 16 deep", () => {
  const nested = (depth: number): JsonObject => (depth === 0 ? {} : { not: nested(depth - 1) });
  expect(problemOf(inCondition(() => nested(15))(0))).toBeUndefined();
  expect(problemOf(inCondition(() => nested(16))(0))).toContain(
    "conditions that are nested at most 16 deep, found more",
  );
});

test("weights may be 0, but not all of them", () => {
  const weights = (...all: number[]) =>
    inOverride(() => ({ weighted_clusters: all.map((weight) => ({ name: "a", weight })) }))(0);
  expect(problemOf(weights(0, 1))).toBeUndefined();
  expect(problemOf(weights(0, 0))).toContain("weights whose sum is at least 1, found a sum of 0");
});

// As natively: a value of nothing is not added unless that is asked for, and no value is bytes that are no text.
test("a header without a value is added where keep_empty_value says so", () => {
  const added = (more: JsonObject) => {
    const fields = { request_headers_to_add: [{ header: { key: "x-a" }, ...more }], cluster: "c" };
    return serve(specifiedRequest({ route: [specifier("RouteOverride", fields)] })).headers.getAll("x-a");
  };
  expect(added({})).toEqual([]);
  expect(added({ keep_empty_value: false })).toEqual([]);
  expect(added({ keep_empty_value: true })).toEqual([""]);
});

test.each(["raw_value", "values"])("a header has no %s", (field) => {
  const header = { key: "x-a", [field]: "YQ==" };
  const problem = problemOf(inOverride(() => ({ request_headers_to_add: [{ header }] }))(0));
  expect(problem).toContain(`header.${field}: expected one of the fields key, value, found an unknown field`);
});

/** What the module says about a route's settings, if anything. */
function problemOf(spec: RequestSpec): string | undefined {
  serve(spec);
  return host.logs.map(({ message }) => message)[0];
}

function serve(spec: RequestSpec) {
  host.logs.length = 0;
  const request = host.request(spec);
  request.end();
  return request;
}
