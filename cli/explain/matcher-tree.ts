// A virtual host's matcher tree, as far as request headers decide it.

import type { Json, JsonMessage, Route, Value, VirtualHost } from "../model/index.js";
import { fullMatch } from "./regex.js";
import { headerValue, type ExplainedRequest } from "./request.js";

interface TreeRoutes {
  routes: readonly Route[];
  undecided: string[];
}

/** The routes that a matcher leads a request to; none where it leads nowhere. */
export function matcherRoutes(host: VirtualHost, matcher: Value<Json>, request: ExplainedRequest): TreeRoutes {
  const walk = new TreeWalk(request);
  const action = walk.matcher(asMessage(matcher.value), []);
  if (action === undefined) return { routes: [], undecided: walk.undecided };
  const prefix = `${matcher.origin.path}.${action.join(".")}`;
  const inside = host.routes.filter(
    ({ listed, origin }) => !listed && isBelow(comparable(origin.path), comparable(prefix)),
  );
  return { routes: inside, undecided: walk.undecided };
}

function isBelow(path: string, prefix: string): boolean {
  return path === prefix || path.startsWith(`${prefix}.`);
}

/** Paths of both spellings, and of quoted keys, in one form. */
function comparable(path: string): string {
  return path
    .replace(/"/g, "")
    .replace(/\[(\d+)\]/g, ".$1")
    .replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

class TreeWalk {
  readonly undecided: string[] = [];

  constructor(private readonly request: ExplainedRequest) {}

  /** The path of the action that a matcher ends in; undefined where it ends in none. */
  matcher(matcher: JsonMessage | undefined, path: string[]): string[] | undefined {
    if (matcher === undefined) return undefined;
    const list = asMessage(field(matcher, "matcher_list"));
    const tree = asMessage(field(matcher, "matcher_tree"));
    const found =
      list === undefined ? this.tree(tree, [...path, "matcher_tree"]) : this.list(list, [...path, "matcher_list"]);
    return found ?? this.onMatch(asMessage(field(matcher, "on_no_match")), [...path, "on_no_match"]);
  }

  private onMatch(action: JsonMessage | undefined, path: string[]): string[] | undefined {
    if (action === undefined) return undefined;
    if (field(action, "action") !== undefined) return [...path, "action"];
    return this.matcher(asMessage(field(action, "matcher")), [...path, "matcher"]);
  }

  private list(list: JsonMessage, path: string[]): string[] | undefined {
    const matchers = field(list, "matchers");
    for (const [index, item] of (Array.isArray(matchers) ? matchers : []).entries()) {
      const one = asMessage(item);
      if (one === undefined || this.predicate(asMessage(field(one, "predicate"))) !== true) continue;
      const found = this.onMatch(asMessage(field(one, "on_match")), [...path, "matchers", String(index), "on_match"]);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  private tree(tree: JsonMessage | undefined, path: string[]): string[] | undefined {
    const value = this.input(asMessage(tree === undefined ? undefined : field(tree, "input")));
    if (tree === undefined || value === undefined) return undefined;
    const exact = asMessage(field(asMessage(field(tree, "exact_match_map")) ?? {}, "map"));
    if (exact !== undefined) return this.entry(exact, value, [...path, "exact_match_map", "map"]);
    const prefixes = asMessage(field(asMessage(field(tree, "prefix_match_map")) ?? {}, "map"));
    if (prefixes === undefined) {
      this.undecided.push(CUSTOM);
      return undefined;
    }
    const fitting = Object.keys(prefixes).filter((prefix) => value.startsWith(prefix));
    const [longest] = fitting.sort((a, b) => b.length - a.length);
    return longest === undefined ? undefined : this.entry(prefixes, longest, [...path, "prefix_match_map", "map"]);
  }

  private entry(map: JsonMessage, key: string, path: string[]): string[] | undefined {
    return Object.hasOwn(map, key) ? this.onMatch(asMessage(map[key]), [...path, key]) : undefined;
  }

  private predicate(predicate: JsonMessage | undefined): boolean | undefined {
    if (predicate === undefined) return undefined;
    const not = asMessage(field(predicate, "not_matcher"));
    if (not !== undefined) return negated(this.predicate(not));
    for (const [kind, wanted] of [
      ["or_matcher", true],
      ["and_matcher", false],
    ] as const) {
      const list = field(asMessage(field(predicate, kind)) ?? {}, "predicate");
      if (!Array.isArray(list)) continue;
      const results = list.map((one) => this.predicate(asMessage(one)));
      return results.includes(wanted) ? wanted : results.includes(undefined) ? undefined : !wanted;
    }
    return this.single(asMessage(field(predicate, "single_predicate")));
  }

  private single(single: JsonMessage | undefined): boolean | undefined {
    const value = this.input(asMessage(single === undefined ? undefined : field(single, "input")));
    const match = asMessage(single === undefined ? undefined : field(single, "value_match"));
    if (match === undefined) {
      this.undecided.push(CUSTOM);
      return undefined;
    }
    if (value === undefined) return false;
    const ignore = field(match, "ignore_case") === true;
    const regex = asMessage(field(match, "safe_regex"))?.["regex"];
    if (typeof regex === "string") return fullMatch(regex, value, ignore);
    return TEXT_KINDS.some((kind) => {
      const text = match[kind];
      return (
        typeof text === "string" && fits(kind, ignore ? text.toLowerCase() : text, ignore ? value.toLowerCase() : value)
      );
    });
  }

  private input(input: JsonMessage | undefined): string | undefined {
    const config = asMessage(input === undefined ? undefined : field(input, "typed_config"));
    const header = config === undefined ? undefined : field(config, "header_name");
    if (typeof header === "string") return headerValue(this.request, header);
    this.undecided.push("the virtual host's matcher asks for something other than a header, which is not known here");
    return undefined;
  }
}

const CUSTOM = "a custom matcher of the virtual host cannot be decided here";
const TEXT_KINDS = ["exact", "prefix", "suffix", "contains"] as const;

function fits(kind: (typeof TEXT_KINDS)[number], text: string, value: string): boolean {
  if (kind === "exact") return value === text;
  if (kind === "prefix") return value.startsWith(text);
  return kind === "suffix" ? value.endsWith(text) : value.includes(text);
}

function negated(value: boolean | undefined): boolean | undefined {
  return value === undefined ? undefined : !value;
}

function asMessage(value: Json | undefined): JsonMessage | undefined {
  return value !== null && typeof value === "object" && !Array.isArray(value) ? value : undefined;
}

function field(message: JsonMessage, name: string): Json | undefined {
  return message[name] ?? message[name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())];
}
