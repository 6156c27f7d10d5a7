// `attempt-router serve --stdio`: one JSON object a line in, one a line out, in the same order.

import { isUtf8 } from "node:buffer";
import type { Readable } from "node:stream";
import { InputError, type Finding } from "../findings.js";
import type { Lowerer } from "../lowerer.js";
import type { Json } from "../yaml/scalar.js";

/** A line of input: `resources`, each with its `@type`, or one `bootstrap`. `id` is handed back. */
interface Request {
  id?: Json;
  resources?: Json;
  bootstrap?: Json;
}

/** Where something is wrong, or worth to know: the path begins at the line's object. */
interface Note {
  path: string;
  message: string;
}

/**
 * Answers every line with the lowered `resources` or `bootstrap` and `warnings`, or with `errors`. An empty line is passed
 * over. No line ends it: the end of the input does.
 *
 * @param write resolves once there is room for the next line
 */
export async function serveLines(
  input: Readable,
  write: (line: string) => Promise<void>,
  lowerer: Lowerer,
): Promise<void> {
  for await (const line of linesOf(input)) {
    if (line.length > 0) await write(`${JSON.stringify(answer(line, lowerer))}\n`);
  }
}

function answer(line: Buffer, lowerer: Lowerer): object {
  const request = parsed(line);
  if ("message" in request) return { errors: [request] };
  const id = request.id === undefined ? {} : { id: request.id };
  try {
    return { ...id, ...lowered(request, lowerer) };
  } catch (error) {
    if (error instanceof InputError) return { ...id, errors: error.findings.map(noteOf) };
    throw error;
  }
}

function lowered({ resources, bootstrap }: Request, lowerer: Lowerer): object {
  if (Array.isArray(resources) && bootstrap === undefined) {
    const { objects, warnings } = lowerer.lower(resources.map((resource, index) => message(resource, index)));
    return { resources: objects, warnings: warnings.map(noteOf) };
  }
  if (bootstrap === undefined || resources !== undefined) throw new InputError([problem("(document)", EXPECTED)]);
  const { objects, warnings } = lowerer.lower(message(bootstrap));
  return { bootstrap: objects, warnings: warnings.map(noteOf) };
}

const EXPECTED = 'expected {"resources": [...]} or {"bootstrap": {...}}, found neither, or both';

function message(value: Json, index?: number): { [key: string]: Json } {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  const path = index === undefined ? "bootstrap" : `resources[${index}]`;
  throw new InputError([problem(path, `expected an object, found ${JSON.stringify(value).slice(0, SHOWN)}`)]);
}

const SHOWN = 40;

function problem(path: string, message: string): Finding {
  return { file: "", line: 0, col: 0, path, message };
}

function noteOf({ path, message }: Finding): Note {
  return { path, message };
}

function parsed(line: Buffer): Request | Note {
  const path = "(document)";
  if (!isUtf8(line)) return { path, message: "expected UTF-8, found other bytes" };
  try {
    const value = JSON.parse(line.toString("utf8")) as Json;
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return withoutMessage(value);
    return { path, message: EXPECTED };
  } catch (error) {
    return {
      path,
      message: `expected a line of JSON, found: ${error instanceof Error ? error.message : String(error)}`,
    };
  }
}

/** A user's own field is not taken for what is wrong with a line. */
function withoutMessage({ id, resources, bootstrap }: { [key: string]: Json }): Request {
  return {
    ...(id === undefined ? {} : { id }),
    ...(resources === undefined ? {} : { resources }),
    ...(bootstrap === undefined ? {} : { bootstrap }),
  };
}

const LINE_FEED = 0x0a;

/** The lines of a stream without their ends. JSON strings may hold what JavaScript takes for the end of a line. */
async function* linesOf(input: Readable): AsyncGenerator<Buffer> {
  let parts: Buffer[] = [];
  for await (const chunk of input) {
    const bytes = Buffer.from(chunk as Buffer | string);
    let start = 0;
    for (let end = bytes.indexOf(LINE_FEED); end >= 0; end = bytes.indexOf(LINE_FEED, start)) {
      yield lineOf([...parts, bytes.subarray(start, end)]);
      parts = [];
      start = end + 1;
    }
    if (start < bytes.length) parts.push(bytes.subarray(start));
  }
  if (parts.length > 0) yield lineOf(parts);
}

const CARRIAGE_RETURN = 0x0d;

function lineOf(parts: readonly Buffer[]): Buffer {
  const line = Buffer.concat(parts);
  return line.at(-1) === CARRIAGE_RETURN ? line.subarray(0, -1) : line;
}
