import type { Finding } from "../findings.js";
import type { Route, RouteConfiguration } from "../model/route.js";
import { cursorAt } from "../read/place.js";
import type { Cursor } from "../yaml/cursor.js";

const SELECTORS = [
  "cluster",
  "cluster_header",
  "weighted_clusters",
  "cluster_specifier_plugin",
  "inline_cluster_specifier_plugin",
];

/** Fields of a route's action that are easily written one level too high, where the route has none of that name. */
const ACTION_FIELDS = ["retry_policy", "hash_policy", "timeout"];

/** What Envoy refuses in a route, and would refuse in another form, or no longer, once the route is lowered. */
export function routeFindings(route: Cursor): Finding[] {
  const findings: Finding[] = [];
  const name = route.field("name");
  if (name !== undefined && name.string() === undefined) {
    findings.push(name.finding(`expected a string, found ${JSON.stringify(name.json())}`));
  }
  const action = route.field("route");
  const [, second] = SELECTORS.map((field) => action?.field(field)).filter((value) => value !== undefined);
  if (second !== undefined) findings.push(second.finding(`expected one of ${SELECTORS.join(", ")}, found two`));
  for (const field of ACTION_FIELDS) {
    const misplaced = route.field(field);
    if (misplaced !== undefined) findings.push(misplaced.finding(`expected ${field} inside of route, found it beside`));
  }
  return findings;
}

/** What is wrong with how a route, whatever its kind, leads to a specifier. Envoy refuses it, but says no line. */
export function pluginFindings(route: Route, { plugins }: RouteConfiguration): Finding[] {
  const action = cursorAt(route.origin).field("route");
  const findings: Finding[] = [];
  const name = action?.field("cluster_specifier_plugin");
  const text = name?.string();
  if (name !== undefined && text !== undefined && !plugins.some((plugin) => plugin.name === text)) {
    const message = "expected the name of a plugin in cluster_specifier_plugins, found";
    findings.push(name.finding(`${message} ${JSON.stringify(text)}`));
  }
  // A specifier without its type is none that could be lowered.
  const config = action?.at("inline_cluster_specifier_plugin", "extension", "typed_config");
  if (config !== undefined && config.entries().length > 0 && config.field("@type") === undefined) {
    findings.push(config.finding("expected an @type, found none"));
  }
  return findings;
}
