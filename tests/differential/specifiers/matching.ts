// What an `envoy.config.route.v3.RouteMatch` means, as far as the generated ones go.

import { metadataHolds, parameterHolds, textMatches, type ModelRequest } from "../../module/route-specifiers.model.js";
import type { Config } from "../../support/case.js";

/** Whether a request is one that a native match is for. */
export function matchHolds(match: Config, request: ModelRequest): boolean {
  const headers = (match["headers"] ?? []) as Config[];
  const parameters = (match["query_parameters"] ?? []) as Config[];
  const metadata = (match["dynamic_metadata"] ?? []) as Config[];
  return (
    pathHolds(match, pathOf(request)) &&
    headers.every((one) => headerHolds(one, request)) &&
    parameters.every((one) => parameterHolds(one, request.path)) &&
    metadata.every((one) => metadataHolds(asCondition(one), request)) &&
    (match["grpc"] === undefined || isGrpc(request))
  );
}

/** A native metadata matcher, with the names that conditions have. */
function asCondition({ filter, path, value, invert }: Config): Config {
  const keys = (path as { key: string }[]).map(({ key }) => key);
  return { namespace: filter, path: keys, value, ...(invert !== undefined && { invert }) };
}

/** The path without its query. */
export function pathOf(request: ModelRequest): string {
  return request.path.split("?")[0] ?? "";
}

/** The part of a path that the match of a route names, and that `prefix_rewrite` replaces. */
export function matchedLength(match: Config, path: string): number {
  const prefix = match["prefix"] ?? match["path_separated_prefix"];
  return prefix === undefined ? path.length : (prefix as string).length;
}

function pathHolds(match: Config, path: string): boolean {
  const fold = (text: unknown): string =>
    match["case_sensitive"] === false ? (text as string).toLowerCase() : (text as string);
  const given = fold(path);
  if (match["prefix"] !== undefined) return given.startsWith(fold(match["prefix"]));
  if (match["path"] !== undefined) return given === fold(match["path"]);
  if (match["safe_regex"] !== undefined) return regexHolds(match["safe_regex"] as Config, path);
  const prefix = fold(match["path_separated_prefix"]);
  return given === prefix || given.startsWith(`${prefix}/`);
}

/** Of several lines one that is as wanted is enough. */
function headerHolds(matcher: Config, request: ModelRequest): boolean {
  const missing = matcher["treat_missing_header_as_empty"] === true ? [""] : [];
  const lines = linesOf(matcher["name"] as string, request) ?? missing;
  const invert = matcher["invert_match"] === true;
  const compare = comparison(matcher);
  if (compare === undefined) return lines.length > 0 === ((matcher["present_match"] ?? true) !== invert);
  return lines.length > 0 && lines.some(compare) !== invert;
}

function linesOf(name: string, request: ModelRequest): string[] | undefined {
  if (name === ":path") return [request.path];
  return name === ":method" ? [request.method] : request.headers[name.toLowerCase()];
}

/** How a header's value is compared; undefined where only its presence is. */
function comparison(matcher: Config): ((value: string) => boolean) | undefined {
  for (const kind of ["exact", "prefix", "suffix", "contains"]) {
    const text = matcher[`${kind}_match`];
    if (text !== undefined) return (value) => textMatches({ [kind]: text }, value);
  }
  if (matcher["safe_regex_match"] !== undefined) {
    return (value) => regexHolds(matcher["safe_regex_match"] as Config, value);
  }
  const range = matcher["range_match"] as { start: number; end: number } | undefined;
  if (range !== undefined) {
    return (value) => /^[+-]?\d+$/.test(value.trim()) && Number(value) >= range.start && Number(value) < range.end;
  }
  const text = matcher["string_match"] as Config | undefined;
  return text && ((value) => stringHolds(text, value));
}

function stringHolds(match: Config, value: string): boolean {
  const regex = match["safe_regex"] as Config | undefined;
  return regex === undefined ? textMatches(match, value) : regexHolds(regex, value);
}

function regexHolds(regex: Config, value: string): boolean {
  return new RegExp(`^(?:${regex["regex"] as string})$`).test(value);
}

/** Whether Envoy takes it for a gRPC request. */
export function isGrpc({ headers }: ModelRequest): boolean {
  const type = headers["content-type"]?.join(",") ?? "";
  return type === "application/grpc" || type.startsWith("application/grpc+");
}
