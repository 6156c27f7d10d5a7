// Composite clusters as the targets of mirror policies: a copy is sent once, so it goes to the aggregate of the first attempt.

import type { Finding } from "../findings.js";
import { routesOf, type Resources } from "../read/resources.js";
import type { Cursor } from "../yaml/cursor.js";
import type { Editor } from "../yaml/tree.js";
import { aggregateOf, standIn } from "./aggregate-route.js";
import type { Aggregate } from "./aggregates.js";
import { chooseForm } from "./composite-form.js";
import type { CompositeContext } from "./composite-route.js";
import { METADATA_NAMESPACE } from "./types.js";

const POLICIES = "request_mirror_policies";
const FIRST_ATTEMPT = 1;

/** Where what is found goes. */
interface Output {
  editor: Editor;
  findings: Finding[];
}

/** Lets mirror policies lead to aggregates. Returns these, and notes in `known` the names that were lowered. */
export function lowerMirrors(
  resources: Resources,
  context: CompositeContext,
  known: Set<number>,
  output: Output,
): Aggregate[] {
  const sites = [...resources.connectionManagers.flatMap((site) => site.routeConfigs), ...resources.looseRouteConfigs];
  const configs = [...new Map(sites.map(({ config }) => [config.offset, config])).values()];
  return configs.flatMap((config) => levelsOf(config)).flatMap((level) => lowerLevel(level, context, known, output));
}

/** A message with mirror policies, and the one whose metadata counts for them. */
interface Level {
  policies: Cursor[];
  owner: Cursor;
}

function levelsOf(config: Cursor): Level[] {
  const hosts = config.list("virtual_hosts");
  const routes = hosts.flatMap(routesOf);
  return [
    ...[config, ...hosts].map((owner) => ({ policies: owner.list(POLICIES), owner })),
    ...routes.map((owner) => ({ policies: owner.field("route")?.list(POLICIES) ?? [], owner })),
  ];
}

function lowerLevel({ policies, owner }: Level, context: CompositeContext, known: Set<number>, output: Output) {
  const asked = owner.at("metadata", "filter_metadata", METADATA_NAMESPACE, "availability")?.json();
  return policies.flatMap((policy) => {
    const cluster = policy.field("cluster");
    const name = cluster?.string() ?? "";
    if (cluster === undefined || policy.map === undefined || !context.composites.has(name)) return [];
    known.add(cluster.offset);
    const aggregate = aggregateOf(name, FIRST_ATTEMPT, context.skip, context);
    const because = whyNot(aggregate, context, asked);
    if (because !== undefined) output.findings.push(cluster.finding(`${NEEDS_AGGREGATE}: ${because}`));
    output.editor.set(policy.map, "cluster", standIn(aggregate));
    return [aggregate];
  });
}

/** Why no aggregate can stand for the composite cluster. */
function whyNot({ clusters }: Aggregate, { composites }: CompositeContext, asked: unknown): string | undefined {
  const route = { asked: asked === "AGGREGATE" ? asked : undefined, obstacle: undefined, hasSubset: () => false };
  const chosen = chooseForm([clusters], (member) => composites.member(member), route);
  return chosen.form === "AGGREGATE" ? undefined : chosen.because;
}

const NEEDS_AGGREGATE =
  "expected a mirror policy whose composite cluster an aggregate can stand for, or availability: AGGREGATE in " +
  "filter_metadata.attempt_router of the metadata beside it, found one";
