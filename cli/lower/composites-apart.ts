// Composite clusters whose routes and clusters are lowered apart: routes name the aggregates by a rule, and whoever lowers the
// clusters writes all of them.

import type { Finding } from "../findings.js";
import { findResources } from "../read/resources.js";
import { Cursor } from "../yaml/cursor.js";
import { Source } from "../yaml/source.js";
import { aggregateOf, type CompositeDelivery } from "./aggregate-route.js";
import type { Aggregate } from "./aggregates.js";
import { chooseForm } from "./composite-form.js";
import type { Composites } from "./composites.js";

/** A file with the definitions of composite clusters, and whatever clusters stand beside them. */
export interface CompositesFile {
  /** Its name in findings. */
  file: string;
  text: string;
}

/** The clusters of a file of composite clusters. Notes in `findings` what is wrong with it. */
export function clustersElsewhere({ file, text }: CompositesFile, findings: Finding[]): Cursor[] {
  return findResources(Cursor.root(Source.parse(file, text)), findings)?.clusters ?? [];
}

/** All aggregates of the composite clusters of a file without routes. Notes in `findings` which composites have none. */
export function everyAggregate(composites: Composites, findings: Finding[]): Aggregate[] {
  return composites.names.flatMap((name) => {
    const attempts = Array.from({ length: composites.lengthOf(name) + 1 }, (_, index) => index + 1);
    const all = attempts.map((attempt) => aggregateOf(name, attempt, true, { composites, skip: true }));
    const lists = all.map(({ clusters }) => clusters);
    const chosen = chooseForm(lists, (member) => composites.member(member), ON_AGGREGATES);
    const definition = composites.clusterNamed(name);
    if (chosen.form === "REFUSED" && definition !== undefined)
      findings.push(definition.finding(`${TOGETHER}: ${chosen.because}`));
    return all.filter(({ direct }) => !direct);
  });
}

/** Why a route may not be lowered without the clusters that it leads to. */
export function apartFindings(place: Cursor, delivery: CompositeDelivery, composites: Composites): Finding[] {
  const { form, because, names, aggregates } = delivery;
  if (!names.some((name) => composites.isElsewhere(name))) return [];
  if (form !== "AGGREGATE") return [place.finding(`${ASKED}: ${because}`)];
  return aggregates.every(({ skip }) => skip) ? [] : [place.finding(SKIPPING)];
}

const ON_AGGREGATES = { asked: "AGGREGATE", obstacle: undefined, hasSubset: () => false };
const TOGETHER =
  "expected a composite cluster that aggregates can stand for, or its routes in the same file, found one";
const ASKED =
  "expected availability: AGGREGATE in filter_metadata.attempt_router of the route's metadata, since the composite cluster is " +
  "lowered apart, found a route that would be probed";
const SKIPPING =
  "expected a route that skips clusters without hosts, since its composite cluster is lowered apart, found one that does not";
