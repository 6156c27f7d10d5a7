// What decides which requests a route is for: envoy.config.route.v3.RouteMatch in full.

import type { Fraction, Json, Message, Value } from "./origin.js";

/** `type` of a match that cannot be decided here is "other"; its `json` is what the file says. */
export interface OtherMatch extends Message {
  readonly type: "other";
  /** The name of the field. */
  readonly field: string;
  readonly json: Json;
}

/** `envoy.type.matcher.v3.StringMatcher`. */
export interface TextMatch extends Message {
  readonly type: "exact" | "prefix" | "suffix" | "contains" | "regex";
  /** The text, or the RE2 expression, which has to match all of the value. */
  readonly text: string;
  readonly ignoreCase: boolean;
}

export type StringMatcher = TextMatch | OtherMatch;

/** How the path of a request is matched. Regular expressions and prefixes see the path without its query. */
export type PathMatch =
  | (Message & {
      readonly type: "prefix" | "path" | "path_separated_prefix" | "safe_regex";
      readonly text: string;
      /** False: `prefix`, `path` and `path_separated_prefix` compare without regard to case. */
      readonly caseSensitive: boolean;
    })
  | (Message & { readonly type: "connect_matcher" })
  /** An extension such as `envoy.path.match.uri_template.uri_template_matcher`; `template` where it is that one. */
  | (Message & { readonly type: "path_match_policy"; readonly template: string | undefined; readonly json: Json });

/** `envoy.config.route.v3.HeaderMatcher`; its older spellings (`exact_match`, …) are read as `string`. */
export interface HeaderMatcher extends Message {
  readonly name: string;
  readonly test:
    | { readonly type: "string"; readonly match: StringMatcher }
    | { readonly type: "present"; readonly present: boolean }
    /** Half-open: `start` <= value < `end`. */
    | { readonly type: "range"; readonly start: number; readonly end: number };
  readonly invert: boolean;
  readonly treatMissingAsEmpty: boolean;
}

/** `envoy.config.route.v3.QueryParameterMatcher`, or a cookie matcher: an absent value never matches. */
export interface NamedMatcher extends Message {
  readonly name: string;
  readonly test:
    | { readonly type: "string"; readonly match: StringMatcher }
    | { readonly type: "present"; readonly present: boolean };
  readonly invert: boolean;
}

/** `envoy.type.matcher.v3.ValueMatcher`. */
export type ValueMatcher =
  | { readonly type: "string"; readonly match: StringMatcher }
  | { readonly type: "bool"; readonly value: boolean }
  | { readonly type: "number"; readonly exact: number }
  /** Half-open. */
  | { readonly type: "range"; readonly start: number; readonly end: number }
  | { readonly type: "present"; readonly present: boolean }
  | { readonly type: "null" }
  | { readonly type: "any_of"; readonly matchers: readonly ValueMatcher[] }
  | { readonly type: "list"; readonly item: ValueMatcher }
  | OtherMatch;

/** `envoy.type.matcher.v3.MetadataMatcher`, of the request's dynamic metadata. */
export interface MetadataMatcher extends Message {
  /** The namespace. */
  readonly filter: string;
  readonly path: readonly string[];
  readonly value: ValueMatcher;
  readonly invert: boolean;
}

/** `envoy.type.matcher.v3.FilterStateMatcher`. */
export interface FilterStateMatcher extends Message {
  readonly key: string;
  readonly match: StringMatcher;
}

/** All that is set has to hold. */
export interface RouteMatch extends Message {
  /** Undefined only in a file that Envoy refuses. */
  readonly path: PathMatch | undefined;
  readonly runtimeFraction: Fraction | undefined;
  readonly headers: readonly HeaderMatcher[];
  readonly queryParameters: readonly NamedMatcher[];
  readonly cookies: readonly NamedMatcher[];
  /** Only requests whose content type is that of gRPC. */
  readonly grpc: boolean;
  readonly tls: { readonly presented: boolean | undefined; readonly validated: boolean | undefined } | undefined;
  readonly dynamicMetadata: readonly MetadataMatcher[];
  readonly filterState: readonly FilterStateMatcher[];
  /** Fields that the model does not know. */
  readonly others: readonly Value<Json>[];
  /** The whole match in snake_case. */
  readonly json: Json;
}
