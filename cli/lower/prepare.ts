// From the routes of the model to what choose/ has to know of them: their settings, what their attempts may take, and why
// they need this or that.

import { watchesAnswers } from "./answers.js";
import { levelChangesCount, matchesCount } from "../choose/attempt-count.js";
import type { Reason } from "../choose/delivery.js";
import type { RouteFacts } from "../choose/routes.js";
import type { Finding } from "../findings.js";
import type { Route, RouteConfiguration, VirtualHost } from "../model/route.js";
import { cursorAt } from "../read/place.js";
import type { Clusters, FilterEffects } from "./clusters.js";
import { skipsClusters, type CompositeContext } from "./composite-route.js";
import type { PlanOptions } from "./options.js";
import { allowedClusters, selectsByHeader } from "./override.js";
import { prepareRoute, specifierUse, type PreparedRoute, type RouteContext } from "./priority-group.js";
import { foreignName } from "./reserved-names.js";
import { pluginFindings, routeFindings } from "./route-check.js";
import type { SlotForm } from "./types.js";

/** What the filters of the connection managers that take a RouteConfiguration mean for its routes. */
export interface ChainFacts extends FilterEffects {
  /** Filters before the module may change what the route was matched by. */
  moves: Reason | undefined;
}

/** A route of the file before its form is chosen. */
export interface Candidate {
  route: Route;
  virtualHost: VirtualHost;
  prepared: PreparedRoute;
  facts: RouteFacts;
}

/** In longer lists, requests would pass too many copies of other routes. */
const MAX_ROUTES_TO_COPY = 100;

/** Prepares the routes of a RouteConfiguration; findings go to `findings`, the offsets of what is lowered to `known`. */
export class Preparer {
  constructor(
    private readonly clusters: Clusters,
    private readonly context: CompositeContext,
    private readonly options: PlanOptions,
    private readonly findings: Finding[],
    private readonly known: Set<number>,
  ) {}

  candidates(config: RouteConfiguration, chain: ChainFacts): Candidate[] {
    return config.virtualHosts.flatMap((virtualHost) => {
      const moves = chain.moves ?? matchesCount(virtualHost);
      this.findings.push(
        ...[virtualHost, ...virtualHost.routes].flatMap(({ origin }) => foreignName(cursorAt(origin))),
      );
      return virtualHost.routes.flatMap((route) => {
        this.findings.push(...pluginFindings(route, config));
        if (route.attempts === undefined) return [];
        return [this.candidate(route, virtualHost, config, { ...chain, moves })];
      });
    });
  }

  private candidate(route: Route, virtualHost: VirtualHost, config: RouteConfiguration, chain: ChainFacts): Candidate {
    const { attempts } = route;
    if (attempts === undefined) throw new Error("a candidate has attempts");
    const cursor = cursorAt(route.origin);
    const use = specifierUse(attempts);
    this.known.add(use.specifier.offset);
    for (const { clusters } of attempts.groups) {
      for (const { name } of clusters) this.known.add(cursorAt(name.origin).offset);
    }
    this.findings.push(...routeFindings(cursor), ...this.clusters.unknown(attempts, config));
    const changes = chain.changesCount ?? levelChangesCount([config, virtualHost, route]);
    const around: Around = {
      byHeader: selectsByHeader(cursor, use.specifier, this.findings),
      changesCount: this.options.attemptHeader
        ? changes
        : { because: "--no-attempt-header is given", at: route.origin },
      writesMetadata: chain.writesMetadata,
      moves: route.listed ? chain.moves : undefined,
    };
    const { prepared, ...effects } = this.prepare(route, virtualHost, around);
    const splits = this.unsplittable(route, virtualHost, prepared);
    return { route, virtualHost, prepared, facts: this.factsOf(route, prepared, { ...around, ...effects }, splits) };
  }

  private prepare(route: Route, virtualHost: VirtualHost, around: Around): FilterEffects & { prepared: PreparedRoute } {
    if (around.byHeader !== undefined) return this.prepareByHeader(route, virtualHost, around);
    const first = this.run(route, virtualHost, around, this.findings);
    // A cluster's own upstream filters see the same header map and metadata as the router does.
    const own = this.clusters.effectsOf(clusterNames([first]));
    const changesCount = around.changesCount ?? own.changesCount;
    const writesMetadata = around.writesMetadata ?? own.writesMetadata;
    if (own.changesCount === undefined && own.writesMetadata === undefined) {
      return { prepared: first, changesCount, writesMetadata };
    }
    const prepared = this.run(route, virtualHost, { ...around, changesCount, writesMetadata }, []);
    return { prepared, changesCount, writesMetadata };
  }

  private prepareByHeader(
    route: Route,
    virtualHost: VirtualHost,
    around: Around,
  ): FilterEffects & { prepared: PreparedRoute } {
    const cursor = cursorAt(route.origin);
    const own = this.clusters.effectsOf(new Set(this.clusters.all));
    const changesCount = around.changesCount ?? own.changesCount;
    if (changesCount !== undefined) this.findings.push(cursor.finding(HEADER_NEEDS_COUNT));
    if (!route.listed) this.findings.push(cursor.finding(HEADER_NEEDS_LIST));
    const writesMetadata = around.writesMetadata ?? own.writesMetadata;
    const prepared = this.run(route, virtualHost, { ...around, writesMetadata }, this.findings);
    return { prepared, changesCount, writesMetadata };
  }

  private run(route: Route, virtualHost: VirtualHost, around: Around, findings: Finding[]): PreparedRoute {
    const cursor = cursorAt(route.origin);
    const { attempts, retries } = route;
    if (attempts === undefined) throw new Error("a candidate has attempts");
    const use = specifierUse(attempts);
    const context: RouteContext = {
      form: formOf(around),
      pin: around.byHeader !== undefined || around.moves !== undefined,
      rereads: around.writesMetadata !== undefined,
      attempts: Math.max(retries?.attempts ?? 1, this.clusters.attempts),
      allowed: allowedClusters(cursor, use.specifier, this.clusters.all, findings),
    };
    return prepareRoute(cursor, cursorAt(virtualHost.origin), use, context, this.context, findings);
  }

  private factsOf(
    route: Route,
    prepared: PreparedRoute,
    { byHeader, changesCount, writesMetadata, moves }: Around,
    unsplittable: Reason | undefined,
  ): RouteFacts {
    const { attempts, origin: at } = route;
    if (attempts === undefined) throw new Error("a candidate has attempts");
    const { settings, slots, rereads } = prepared;
    const asked = { because: "read_metadata_per_attempt is set", at };
    const watches = { because: "record_attempts, steps or min_attempt_time is set", at };
    const skips = { because: "a composite cluster passes over clusters without a host", at: attempts.origin };
    return {
      at,
      attempts,
      settings,
      slots,
      byHeader,
      countUnusable: changesCount,
      unsplittable,
      pinned: moves,
      readsPerAttempt: rereads ? (writesMetadata ?? asked) : undefined,
      watchesAnswers: watchesAnswers(settings) ? watches : undefined,
      skips: skipsClusters(settings, this.context) ? skips : undefined,
    };
  }

  /** Why a route may not become several: a filter may keep state for each, or the route uses Envoy's random value itself. */
  private unsplittable(route: Route, { routes }: VirtualHost, { settings }: PreparedRoute): Reason | undefined {
    const { origin: at, listed, perFilter, match } = route;
    if (!this.options.splitWeights) return { because: "--split-weights is not given", at };
    if ("route_specifiers" in settings) return { because: "route specifiers are given the route", at };
    if (!listed) return { because: "the route stands in a matcher", at };
    const count = routes.filter((one) => one.listed).length;
    if (count > MAX_ROUTES_TO_COPY) return { because: `the virtual host has ${count} routes`, at };
    const [own] = perFilter;
    if (own !== undefined || cursorAt(at).field("typed_per_filter_config") !== undefined)
      return { because: "the route has its own configuration of filters", at: own?.origin ?? at };
    const fraction = match.runtimeFraction;
    return fraction && { because: "the route is matched by a runtime_fraction", at: fraction.origin };
  }
}

/** Why a route gets which settings. */
interface Around extends ChainFacts {
  byHeader: Reason | undefined;
}

function formOf({ byHeader, changesCount }: Around): SlotForm {
  if (byHeader !== undefined) return "HEADERS";
  return changesCount === undefined ? "SLOT_PER_ATTEMPT" : "ONE_SLOT";
}

/** Everything that attempts of these routes may take. */
export function clusterNames(routes: readonly PreparedRoute[]): Set<string> {
  return new Set(routes.flatMap(({ slots }) => slots.flatMap((slot) => [slot.defaultCluster, ...slot.otherClusters])));
}

/** A named specifier that no route uses is only checked. */
export const UNUSED: RouteContext = {
  form: "SLOT_PER_ATTEMPT",
  pin: false,
  rereads: false,
  attempts: 1,
  allowed: [],
};

const HEADER_NEEDS_COUNT =
  "expected cluster_selection HEADER only where x-envoy-attempt-count is sent upstream as Envoy writes it, found it changed";
const HEADER_NEEDS_LIST =
  "expected cluster_selection HEADER only on a route in the routes of its virtual host, found one in a matcher";
