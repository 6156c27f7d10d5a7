// The tables by which a connection manager gets its filters.

import type { ConnectionManager } from "../model/program.js";
import type { Level, RouteConfiguration } from "../model/route.js";
import type { Json } from "../model/origin.js";
import { canonicalJson } from "../lower/settings.js";
import { DOWNSTREAM_FILTER } from "../lower/types.js";
import { firstReason, type Reason } from "./delivery.js";
import { isOurs } from "./filter-chain.js";
import { movedBy } from "./moving-filters.js";
import { decidesPerAttempt, needsModule, type RouteFacts, type RouteSurroundings } from "./routes.js";

/** What counts of a connection manager. */
export interface ManagerFacts {
  manager: ConnectionManager;
  routes: readonly RouteFacts[];
  /** Name of the HTTP filter before which the module goes. */
  placeBefore: string | undefined;
  /** The listeners of a bootstrap are not replaced. */
  fromBootstrap: boolean;
  /** Why the upstream role has to be in front of every cluster. */
  everyCluster: Reason | undefined;
  /** A route configuration that another connection manager takes, too. */
  shared: RouteConfiguration | undefined;
  /** Why the filter for all routes has to know composite clusters before the first request. */
  watches: Reason | undefined;
}

/** Each filter for some routes has a virtual machine per worker. */
const MAX_FILTERS = 16;

type Rule = (facts: ManagerFacts, deciding: readonly RouteFacts[]) => Reason | undefined;

/** Why no filter may mark that the router has begun. Routes that come by RDS must not need a new listener. */
const MARK_RULES: readonly Rule[] = [
  routesFromElsewhere,
  (facts) => specifiersOf(facts.manager),
  (facts) => outsideOf(facts.manager),
  // Where the module serves all routes anyway, the filter that marks would only come on top.
  (_, deciding) => deciding.map(decidesPerAttempt).find((reason) => reason !== undefined),
  (facts, deciding) => (deciding.length === 0 ? undefined : firstRule(PER_CHAIN_RULES, facts, deciding)),
];

/** Why the routes cannot have a filter for each distinct chain of priority groups. */
const PER_CHAIN_RULES: readonly Rule[] = [
  // While connections of a listener that was replaced drain, its virtual machines stay.
  ({ fromBootstrap, manager }) =>
    fromBootstrap ? undefined : { because: "the listener does not stand in a bootstrap", at: manager.origin },
  ({ shared }) => shared && { because: "several connection managers take the route configuration", at: shared.origin },
  routesFromElsewhere,
  ({ placeBefore, manager }) =>
    placeBefore === undefined ? undefined : { because: "the module has been given a place", at: manager.origin },
  movesRequests,
  ({ manager }) => moduleOf(manager),
  ({ manager }) => ownUpgradeFilters(manager),
  ({ manager }) => openTable(manager),
  ({ manager }) => outsideOf(manager),
  (_, deciding) => deciding.map(notFixed).find((reason) => reason !== undefined),
  (facts, deciding) => tooMany(facts, deciding),
];

export interface ManagerChoice extends RouteSurroundings {
  /** Why a request may leave the route that it met the filter chain on. */
  moves: Reason | undefined;
  /** Why requests are given to route specifiers. */
  specified: Reason | undefined;
}

export function chooseForManager(facts: ManagerFacts): ManagerChoice {
  const ifMarked = facts.routes.filter((route) => needsModule(route, undefined));
  const unmarked = firstRule(MARK_RULES, facts, ifMarked);
  const deciding = facts.routes.filter((route) => needsModule(route, unmarked));
  const upstream = deciding.map(decidesPerAttempt).find((reason) => reason !== undefined);
  const sharedFilter = upstream ?? facts.everyCluster ?? facts.watches ?? firstRule(PER_CHAIN_RULES, facts, deciding);
  const specified = specifiersOf(facts.manager);
  return { unmarked, sharedFilter, specified, moves: specified ?? movesRequests(facts) ?? placed(facts) };
}

/** What holds around the routes of a RouteConfiguration that no connection manager of the file takes. */
export function chooseForLoose(config: RouteConfiguration): RouteSurroundings {
  const reason = { because: "which filters go with the route configuration is not in this file", at: config.origin };
  return { unmarked: reason, sharedFilter: reason };
}

function firstRule(rules: readonly Rule[], facts: ManagerFacts, deciding: readonly RouteFacts[]): Reason | undefined {
  return firstReason(
    rules.map((rule) => (all: ManagerFacts) => rule(all, deciding)),
    facts,
  );
}

function routesFromElsewhere({ manager }: ManagerFacts): Reason | undefined {
  if (!manager.dynamicRoutes) return undefined;
  const at = "at" in manager.source ? manager.source.at.origin : manager.origin;
  return { because: "routes of the connection manager come by RDS or SRDS", at };
}

/** A route configuration that route specifiers are given, before or after lowering. */
function specifiersOf({ routeConfigurations }: ConnectionManager): Reason | undefined {
  for (const config of routeConfigurations) {
    const level = levelsOf(config).find((one) => one.specifiers.length > 0 || isSpecified(one));
    if (level !== undefined) return { because: "route specifiers may change the route", at: level.origin };
  }
  return undefined;
}

/** Over RDS, an update of the routes must not need one of the listener, too. */
function outsideOf({ routeConfigurations }: ConnectionManager): Reason | undefined {
  const config = routeConfigurations.find(({ inside }) => !inside);
  return config && { because: "the routes do not stand in their connection manager", at: config.origin };
}

function movesRequests({ manager, placeBefore }: ManagerFacts): Reason | undefined {
  return movedBy(manager, { placeBefore });
}

function placed({ placeBefore, manager }: ManagerFacts): Reason | undefined {
  return placeBefore === undefined ? undefined : { because: "the module has been given a place", at: manager.origin };
}

function moduleOf({ chain }: ConnectionManager): Reason | undefined {
  const filter = chain?.filters.find(({ name }) => isOurs(name));
  return filter && { because: "the filter chain was lowered before", at: filter.origin };
}

function ownUpgradeFilters({ upgrades }: ConnectionManager): Reason | undefined {
  const upgrade = upgrades.find(({ chain }) => chain !== undefined);
  return upgrade && { because: `the upgrade ${upgrade.type} has filters of its own`, at: upgrade.origin };
}

/** Virtual hosts may come later, specifiers may change the route, or the user has a say in where the module runs. */
function openTable(manager: ConnectionManager): Reason | undefined {
  const late = manager.routeConfigurations.find(({ vhds }) => vhds);
  if (late !== undefined) return { because: "virtual hosts come by VHDS", at: late.origin };
  const specified = specifiersOf(manager);
  if (specified !== undefined) return specified;
  const perFilter = manager.routeConfigurations.flatMap(levelsOf).flatMap((level) => level.perFilter);
  const asked = perFilter.find(({ name }) => name === DOWNSTREAM_FILTER);
  return asked && { because: `the filter ${DOWNSTREAM_FILTER} is configured by its name`, at: asked.origin };
}

/** Why not all that decides the route's requests is known when they begin. */
function notFixed({
  byHeader,
  countUnusable,
  pinned,
  readsPerAttempt,
  watchesAnswers,
  settings,
  at,
}: RouteFacts): Reason | undefined {
  const reason = byHeader ?? countUnusable ?? pinned ?? readsPerAttempt ?? watchesAnswers;
  if (reason !== undefined || !("composite_clusters" in settings)) return reason;
  return { because: "a route leads to composite clusters", at };
}

function tooMany({ manager }: ManagerFacts, deciding: readonly RouteFacts[]): Reason | undefined {
  const distinct = new Set(deciding.map(({ settings }) => canonicalJson(settings))).size;
  if (distinct <= MAX_FILTERS) return undefined;
  return { because: `there are ${distinct} distinct settings, more than ${MAX_FILTERS}`, at: manager.origin };
}

function levelsOf(config: RouteConfiguration): Level[] {
  return [config, ...config.virtualHosts.flatMap((host) => [host, ...host.routes])];
}

function isSpecified({ ownSettings }: Level): boolean {
  const json: Json = ownSettings?.value ?? null;
  return json !== null && typeof json === "object" && "route_specifiers" in json;
}
