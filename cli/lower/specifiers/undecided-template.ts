import type { Finding } from "../../findings.js";
import type { Configured } from "./configured.js";

/**
 * Findings for templates whose match only the proxy can evaluate, in one specifier chain in the order in which it runs.
 *
 * The module cannot know which of two routes such a template returns. So a later specifier would be given the wrong one
 * (the specification: "the output of each specifier is the input of the next"), and what an earlier override replaced
 * would be lost where the match does not hold.
 */
export function undecidedTemplateFindings(chain: readonly Configured[]): Finding[] {
  return chain.flatMap((specifier, index) => {
    if (specifier.template?.proxyMatches !== true) return [];
    const overridden = chain.slice(0, index).some(({ override }) => override !== undefined);
    const followed = index < chain.length - 1;
    if (!overridden && !followed) return [];
    const where = followed ? "only as the last specifier" : "without overrides before it";
    const message =
      `expected a match that the module can evaluate, or this template ${where}, found neither: match by path, prefix, ` +
      "path_separated_prefix and by headers with present_match or a string_match that is no safe_regex";
    return [specifier.entry.findingBelow(["typed_config", "templates"], message)];
  });
}
