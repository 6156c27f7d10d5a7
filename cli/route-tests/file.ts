// A test file: a config, requests to it, and what is expected of each.

import { InputError, type Finding } from "../findings.js";
import { readAnswer, response, type Answer } from "../explain/request.js";
import type { Json, JsonMessage } from "../model/index.js";
import { Cursor } from "../yaml/cursor.js";
import { Source } from "../yaml/source.js";

/** What a request is, as the file writes it. */
export interface TestRequest {
  readonly path: string;
  readonly method: string;
  readonly host: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly metadata: Readonly<Record<string, JsonMessage>>;
  readonly body: string;
  readonly random: bigint | undefined;
}

export interface TestExpectation {
  readonly virtualHost: string | null | undefined;
  /** Null: no route takes the request. */
  readonly route: string | null | undefined;
  /** The clusters that see the request, in order. */
  readonly attempts: readonly string[] | undefined;
  readonly status: number | undefined;
  /** The shares of the clusters of attempt 1. */
  readonly firstAttempt: Readonly<Record<string, number>> | undefined;
  readonly tolerance: number;
}

export interface RouteTest {
  readonly name: string;
  readonly line: number;
  readonly listener: string | undefined;
  readonly request: TestRequest;
  readonly answers: ReadonlyMap<string, readonly Answer[]>;
  readonly down: readonly string[];
  /** Why a real Envoy is not asked; undefined: it is. */
  readonly skipEnvoy: string | undefined;
  readonly expect: TestExpectation;
}

export interface TestFile {
  readonly file: string;
  /** Relative to the test file. */
  readonly config: string;
  readonly tests: readonly RouteTest[];
}

const FIELDS = ["name", "listener", "request", "answers", "down", "skip_envoy", "expect"];
const REQUEST_FIELDS = ["path", "method", "host", "headers", "metadata", "body", "random"];
const EXPECT_FIELDS = ["virtual_host", "route", "attempts", "status", "first_attempt", "tolerance"];

/** @throws InputError with everything that is wrong with the file */
export function readTestFile(file: string, text: string): TestFile {
  const root = Cursor.root(Source.parse(file, text));
  const findings: Finding[] = [...unknownFields(root, ["config", "tests"])];
  const config = root.field("config")?.string();
  if (config === undefined) findings.push(root.findingBelow(["config"], "expected the path of a config, found none"));
  const tests = root.list("tests").map((test) => readTest(test, findings));
  if (tests.length === 0) findings.push(root.findingBelow(["tests"], "expected at least one test, found none"));
  if (findings.length > 0 || config === undefined) throw new InputError(findings);
  return { file, config, tests };
}

function readTest(test: Cursor, findings: Finding[]): RouteTest {
  findings.push(...unknownFields(test, FIELDS));
  const name = test.field("name")?.string();
  if (name === undefined) findings.push(test.findingBelow(["name"], "expected a name, found none"));
  const expected = test.field("expect");
  if (expected === undefined) findings.push(test.findingBelow(["expect"], "expected what is expected, found none"));
  return {
    name: name ?? "",
    line: test.finding("").line,
    listener: test.field("listener")?.string(),
    request: readRequest(test, findings),
    answers: new Map(
      test
        .field("answers")
        ?.entries()
        .map(({ key, value }) => [key, readAnswers(value, findings)]) ?? [],
    ),
    down: test.list("down").map((item) => item.string() ?? ""),
    skipEnvoy: test.field("skip_envoy")?.string(),
    expect: readExpectation(expected, findings),
  };
}

function readRequest(test: Cursor, findings: Finding[]): TestRequest {
  const request = test.field("request");
  if (request?.field("path") === undefined) {
    findings.push(test.findingBelow(["request", "path"], "expected the path of the request, found none"));
  } else findings.push(...unknownFields(request, REQUEST_FIELDS));
  const headers = request?.field("headers")?.entries() ?? [];
  const random = request?.field("random");
  return {
    path: request?.field("path")?.string() ?? "/",
    method: (request?.field("method")?.string() ?? "GET").toUpperCase(),
    host: request?.field("host")?.string() ?? "localhost",
    headers: headers.flatMap(({ key, value }) => linesOf(value).map((line) => [key.toLowerCase(), line] as const)),
    metadata: Object.fromEntries(
      (request?.field("metadata")?.entries() ?? []).map(({ key, value }) => [key, messageOf(value.json())]),
    ),
    body: request?.field("body")?.string() ?? "",
    random: random === undefined ? undefined : readRandom(random, findings),
  };
}

function linesOf(value: Cursor): string[] {
  const items = value.seq === undefined ? [value] : value.items();
  return items.map((item) => String(item.json() as string | number | boolean));
}

function readRandom(cursor: Cursor, findings: Finding[]): bigint | undefined {
  const text = String(cursor.json() as string | number);
  if (/^\d+$/.test(text) && BigInt(text) < 2n ** 64n) return BigInt(text);
  findings.push(cursor.finding("expected an integer from 0 to 18446744073709551615, found something else"));
  return undefined;
}

/** `[429, reset]`, one answer, or `{status, headers}`. */
function readAnswers(cursor: Cursor, findings: Finding[]): Answer[] {
  const items = cursor.seq === undefined ? [cursor] : cursor.items();
  return items.flatMap((item) => {
    const status = item.map === undefined ? item.json() : (item.field("status")?.json() ?? null);
    const answer = readAnswer(status);
    if (answer === undefined) {
      findings.push(item.finding("expected a status, reset, timeout, refused or refused-stream, found something else"));
      return [];
    }
    if (answer.kind !== "response") return [answer];
    const headers = item.field("headers")?.entries() ?? [];
    return [
      response(
        answer.status,
        Object.fromEntries(headers.map(({ key, value }) => [key.toLowerCase(), linesOf(value).join(",")])),
      ),
    ];
  });
}

function readExpectation(expected: Cursor | undefined, findings: Finding[]): TestExpectation {
  if (expected !== undefined) findings.push(...unknownFields(expected, EXPECT_FIELDS));
  const entry = (name: string): Cursor | undefined => expected?.entries().find(({ key }) => key === name)?.value;
  const nameOrNull = (name: string): string | null | undefined => {
    const cursor = entry(name);
    return cursor === undefined ? undefined : (cursor.string() ?? null);
  };
  const shares = entry("first_attempt")?.entries();
  return {
    virtualHost: nameOrNull("virtual_host"),
    route: nameOrNull("route"),
    attempts: entry("attempts")
      ?.items()
      .map((item) => item.string() ?? ""),
    status: entry("status") === undefined ? undefined : Number(entry("status")?.json()),
    firstAttempt: shares && Object.fromEntries(shares.map(({ key, value }) => [key, Number(value.json())])),
    tolerance: Number(entry("tolerance")?.json() ?? 0.001),
  };
}

function unknownFields(cursor: Cursor, known: readonly string[]): Finding[] {
  return cursor
    .entries()
    .filter(({ key }) => !known.includes(key))
    .map(({ key, value }) => value.finding(`expected one of the fields ${known.join(", ")}, found ${key}`));
}

function messageOf(value: Json): JsonMessage {
  return value !== null && typeof value === "object" && !Array.isArray(value) ? value : {};
}
