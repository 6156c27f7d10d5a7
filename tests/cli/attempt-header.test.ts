import { expect, test } from "vitest";
import { touchesCount } from "../../cli/choose/attempt-count.js";
import { snakeJson } from "../../cli/read/fields.js";
import { Cursor } from "../../cli/yaml/cursor.js";
import { Source } from "../../cli/yaml/source.js";

function touches(text: string): boolean {
  const filter = Cursor.root(Source.parse("in.yaml", text)).field("filter");
  return filter !== undefined && touchesCount(snakeJson(filter));
}

test.each([
  ["the name", "filter: {remove: x-envoy-attempt-count}"],
  ["the name in other case", "filter: [{header: {key: X-Envoy-Attempt-Count, value: a}}]"],
  ["code that holds the name", "filter: {inline_string: 'h:headers():remove(\"x-envoy-attempt-count\")'}"],
  [
    "code that reads the header and replaces it",
    'filter: {inline_string: \'r(h:get("x-envoy-attempt-count"), "x-envoy-attempt-count")\'}',
  ],
  ["the name that is set to another header", "filter: {key: x-envoy-attempt-count, value: '%REQ(x-a)%'}"],
  ["a pattern", "filter: {mutations: [{remove_on_match: {key_matcher: {prefix: x-}}}]}"],
  [
    "a pattern in the other form of names",
    '{"filter": {"mutations": [{"removeOnMatch": {"keyMatcher": {"prefix": "x-"}}}]}}',
  ],
  ["the name behind an alias", "name: &a x-envoy-attempt-count\nfilter: {remove: *a}"],
  ["a map behind an alias", "shared: &a {remove: [x-envoy-attempt-count]}\nfilter: {mutations: *a}"],
  ["a pattern behind a merge key", "shared: &a {remove_on_match: {}}\nfilter: [{<<: *a}]"],
])("touches the attempt count: %s", (_, text) => {
  expect(touches(text)).toBe(true);
});

test.each([
  ["other headers", "filter: {remove: x-envoy-attempt, add: {key: a, value: b}}"],
  ["a format that reads the header", "filter: {key: x-try, value: 'no %REQ(X-Envoy-Attempt-Count?x-a):3%'}"],
  ["code that reads the header", "filter: {inline_string: 'n = h:headers():get( \"x-envoy-attempt-count\")'}"],
  ["nothing", "other: x-envoy-attempt-count"],
])("does not touch the attempt count: %s", (_, text) => {
  expect(touches(text)).toBe(false);
});
