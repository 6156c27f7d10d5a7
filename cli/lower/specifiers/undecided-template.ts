import type { Finding } from "../../findings.js";
import type { Cursor } from "../../yaml/cursor.js";
import type { Configured } from "./configured.js";

const EVALUATED =
  "match by path, prefix, path_separated_prefix, query_parameters, headers and dynamic_metadata, without safe_regex and range_match";

/**
 * Findings for templates whose match only the proxy can evaluate, in one specifier chain in the order in which it runs.
 *
 * The module cannot know which of two routes such a template returns. So a later specifier would be given the wrong one
 * (the specification: "the output of each specifier is the input of the next"), and what an earlier override replaced
 * or another template supplied would be lost where the match does not hold.
 */
export function undecidedTemplateFindings(chain: readonly Configured[]): Finding[] {
  return chain.flatMap((specifier, index) => {
    if (specifier.template?.proxyMatches !== true) return [];
    const replaced = chain.slice(0, index).some(({ override, template }) => (override ?? template) !== undefined);
    const followed = index < chain.length - 1;
    if (!replaced && !followed) return [];
    const where = followed ? "only as the last specifier" : "without overrides and templates before it";
    const message = `expected a match that the module can evaluate, or this template ${where}, found neither: ${EVALUATED}`;
    return [specifier.entry.findingBelow(["typed_config", "templates"], message)];
  });
}

/** Findings for such templates where they and the route that they may leave have slots: there is one set of them. */
export function sharedSlotsFindings(chain: readonly Configured[], hasSlots: (route: Cursor) => boolean): Finding[] {
  return chain.flatMap(({ entry, template }) => {
    if (template?.proxyMatches !== true || !hasSlots(template.route)) return [];
    const message =
      "expected a match that the module can evaluate, or a route without priority groups and composite clusters for " +
      `this template to replace, found neither: ${EVALUATED}`;
    return [entry.findingBelow(["typed_config", "templates"], message)];
  });
}
