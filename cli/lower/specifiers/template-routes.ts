// The routes that templates stand for, and what the module has to know of them.

import type { Cursor } from "../../yaml/cursor.js";
import type { Json } from "../../yaml/scalar.js";
import { copiedState } from "../copied-state.js";
import { isMessage } from "../settings.js";
import { GIVEN_KEY } from "../types.js";
import { digest, type Configured, type Message } from "./configured.js";
import { fallbackCopy, templateRoutes } from "./copies.js";
import type { Groups } from "./groups.js";
import type { ConfigContext, SpecifierPlan } from "./planned.js";

const NO_ROUTE_PIN = "(no route)";

/** The routes of the templates among the specifiers of a virtual host, each once. */
export function routesOfTemplates(
  specifiers: readonly Configured[],
  host: Cursor,
  context: ConfigContext,
  groups: Groups,
  plan: SpecifierPlan,
): Json[] {
  const seen = new Set<string>();
  return specifiers.flatMap(({ template }) => {
    if (template === undefined || seen.has(template.pin)) return [];
    seen.add(template.pin);
    const routes = templateRoutes(template, groups.copyContext(host, specifiers, context));
    const everywhere = context.config.some((one) => one.template === template);
    const hosts = everywhere ? context.site.config.list("virtual_hosts").slice(1) : [];
    if (routes.length + hosts.length > 1) plan.findings.push(...copiedState(template.route, context.behind));
    return routes;
  });
}

/** Writes the settings of templates with priority groups where the module will read them. */
export function addTemplateSettings(
  specifiers: readonly Configured[],
  host: Cursor,
  context: ConfigContext,
  groups: Groups,
  { known }: SpecifierPlan,
): void {
  for (const { template, settings } of specifiers) {
    const use = template && groups.use(template.route, context);
    if (template === undefined || use === undefined) continue;
    known.add(use.specifier.offset);
    for (const group of use.specifier.list("priority_groups")) {
      for (const cluster of group.list("clusters")) known.add(cluster.field("cluster_name")?.offset ?? -1);
    }
    const summary = chosenSummary(settings);
    if (summary !== undefined) summary["settings"] = groups.templateSettings(template, use, host, context);
  }
}

/** What a request falls back to where a template's match, which only Envoy can evaluate, does not hold. */
export function fallbacks(route: Cursor, chain: readonly Configured[]): Json[] {
  return mayFallBack(chain) ? [fallbackCopy(route, pinOf(route))] : [];
}

/** What a request without a route falls back to: Envoy's answer where a route was dropped. */
export function noRoute(chain: readonly Configured[]): Json[] {
  if (!mayFallBack(chain)) return [];
  const filter_state = [{ key: GIVEN_KEY, string_match: { exact: NO_ROUTE_PIN } }];
  return [{ match: { prefix: "", filter_state }, direct_response: { status: 404 } }];
}

/** By what the module finds a route that matching resolved, and its copies. */
export function pinOf(route: Cursor): string {
  return `${route.field("name")?.string() ?? ""}/${digest(route)}`;
}

function mayFallBack(chain: readonly Configured[]): boolean {
  return chain.some(({ template }) => template?.proxyMatches === true);
}

/** The template that a RouteTemplate's settings choose, as the module will read it. */
function chosenSummary(settings: Message): Message | undefined {
  const typed = settings["typed_config"];
  if (!isMessage(typed) || !Array.isArray(typed["templates"])) return undefined;
  const chosen = typed["templates"].filter(isMessage).find((item) => item["template_id"] === typed["template_id"]);
  return isMessage(chosen?.["route"]) ? chosen["route"] : undefined;
}
