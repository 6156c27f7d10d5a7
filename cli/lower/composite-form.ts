// How a composite cluster is delivered: as aggregates, which Envoy asks at the moment of each attempt, where these are the same;
// else the module chooses among its clusters by what it knows of their hosts.

import { chosenByRequest, takesFactor, verdict, type Member } from "./members.js";

export type CompositeForm = "AGGREGATE" | "PROBE" | "REFUSED";

export interface ChosenForm {
  form: CompositeForm;
  /** Why, as the end of a sentence that begins with "since". */
  because: string;
}

/** What a route says that counts for the form of its composite clusters. */
export interface RouteFacts {
  /** `availability` of the route's settings. */
  asked: unknown;
  /** Why aggregates cannot be written for the route, if so. */
  obstacle: string | undefined;
  /** Whether the subset that the route asks a cluster for is known to have a host. */
  hasSubset: (cluster: string) => boolean;
}

/** A list of clusters that an attempt may use; `member` gives what the file says of one, if it is there. */
export type Lists = readonly (readonly string[])[];
export type MemberOf = (name: string) => Member | undefined;

/** Chooses the form for a route that may meet these lists. */
export function chooseForm(lists: Lists, memberOf: MemberOf, route: RouteFacts): ChosenForm {
  const { asked, obstacle } = route;
  const real = lists.filter((list) => list.length > 1);
  if (asked === "PROBE" || asked === "ADMIN") return dependable(real, memberOf, `availability: ${asked} asks for it`);
  const impossible = real.map((list) => perRequest(list, memberOf)).find((because) => because !== undefined);
  const prevented = impossible ?? ownFilters(lists, memberOf) ?? obstacle;
  if (asked === "AGGREGATE") {
    if (prevented !== undefined) return { form: "REFUSED", because: prevented };
    return { form: "AGGREGATE", because: "availability: AGGREGATE asks for it" };
  }
  if (prevented !== undefined) return dependable(real, memberOf, prevented);
  const unequal = real.map((list) => whyUnequal(list, memberOf, route)).find((because) => because !== undefined);
  if (unequal === undefined) return { form: "AGGREGATE", because: "an aggregate skips the same clusters" };
  return dependable(real, memberOf, unequal);
}

/** Whether aggregates over a list pass over clusters whose hosts are all unhealthy. */
export function skipsByHealth(list: readonly string[], memberOf: MemberOf): boolean {
  return list.slice(0, -1).some((name) => mayBeUnhealthy(memberOf(name)));
}

/** The clusters of a list that one healthy host has to keep an aggregate on. */
export function needingFactor(list: readonly string[], memberOf: MemberOf): string[] {
  if (!skipsByHealth(list, memberOf)) return [];
  return list.filter((name) => {
    const member = memberOf(name);
    return member !== undefined && mayBeUnhealthy(member) && takesFactor(member);
  });
}

function mayBeUnhealthy(member: Member | undefined): boolean {
  if (member === undefined) return true;
  const { hosts, healthChecks, outlierDetection, statuses } = member;
  return hosts === "EDS" || healthChecks !== "NONE" || outlierDetection || statuses;
}

/** The module's questions are not the request's, so what hangs on the request may not hang on them. */
function dependable(lists: Lists, memberOf: MemberOf, because: string): ChosenForm {
  const asked = lists.flatMap((list) => list.slice(0, -1));
  for (const name of asked) {
    const member = memberOf(name);
    const request = member === undefined ? undefined : chosenByRequest(member);
    if (request !== undefined) return { form: "REFUSED", because: `${name} ${request}` };
  }
  return { form: "PROBE", because };
}

/** Clusters that make their hosts for a request have none that an aggregate would know. */
function perRequest(list: readonly string[], memberOf: MemberOf): string | undefined {
  const name = list.find((one) => memberOf(one)?.hosts === "PER_REQUEST");
  return name === undefined ? undefined : `${name} finds its host by the request`;
}

/** Envoy takes the upstream filters of the aggregate, so those that a provider needs would not run. */
function ownFilters(lists: Lists, memberOf: MemberOf): string | undefined {
  const name = lists.flat().find((one) => memberOf(one)?.provider);
  return name === undefined ? undefined : `${name} has a provider, whose filters an aggregate does not run`;
}

function whyUnequal(list: readonly string[], memberOf: MemberOf, route: RouteFacts): string | undefined {
  for (const [index, name] of list.entries()) {
    const member = memberOf(name);
    if (member === undefined) return `${name} is not in this file`;
    const because = index < list.length - 1 ? whyNotSkipped(member, route) : whyNotLast(member, list, memberOf);
    if (because !== undefined) return because;
  }
  return undefined;
}

function whyNotSkipped(member: Member, route: RouteFacts): string | undefined {
  const known = member.choosesByRequest && route.hasSubset(member.name);
  const judged = verdict(known ? { ...member, choosesByRequest: false } : member);
  if (!judged.equal) return judged.because;
  return known && judged.factor ? `${member.name} has subsets whose hosts may be unhealthy` : undefined;
}

/** Nothing is behind the last cluster, so it only has to be the one that is asked once all others have been passed over. */
function whyNotLast(member: Member, list: readonly string[], memberOf: MemberOf): string | undefined {
  const judged = verdict({ ...member, choosesByRequest: false });
  if (judged.equal) return undefined;
  if (member.choosesByRequest || member.hosts === "UNKNOWN" || skipsByHealth(list, memberOf)) return judged.because;
  return undefined;
}
