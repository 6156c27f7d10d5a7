// What checks look at: the model, and the routes whose attempts move from cluster to cluster.

import {
  managersOf,
  routeConfigurationsOf,
  type Attempts,
  type Cluster,
  type ConnectionManager,
  type Message,
  type Program,
  type RetryPolicy,
  type Route,
  type RouteAction,
  type RouteConfiguration,
  type Value,
  type VirtualHost,
} from "../model/index.js";

/** A route of a file, with what stands around it. */
export interface PlacedRoute {
  readonly configuration: RouteConfiguration;
  readonly virtualHost: VirtualHost;
  readonly route: Route;
  readonly managers: readonly ConnectionManager[];
}

/** A cluster that a route may lead to, and where the file names it. */
export interface NamedCluster {
  readonly name: string;
  readonly weight: number;
  readonly at: Message;
}

/** A route with priority groups or a composite cluster. */
export interface FallbackRoute extends PlacedRoute {
  readonly action: RouteAction;
  readonly attempts: Attempts;
  /** The clusters of each attempt; a composite cluster has one for each. */
  readonly groups: readonly (readonly NamedCluster[])[];
  readonly composite: Cluster | undefined;
  /** The policy in force; undefined where there is none, or only Envoy knows it. */
  readonly policy: RetryPolicy | undefined;
  /** Whether Envoy knows a policy that the model does not. */
  readonly opaquePolicy: boolean;
  /** Where the policy of retries, or its lack, is to be reported. */
  readonly at: Message;
}

export class CheckContext {
  readonly routes: readonly PlacedRoute[];
  readonly fallbacks: readonly FallbackRoute[];
  readonly managers: readonly ConnectionManager[];
  private readonly clusters = new Map<string, Cluster>();

  /** @param exists whether a file is there, for paths that the config names */
  constructor(
    readonly program: Program,
    readonly exists: (path: string) => boolean,
  ) {
    for (const cluster of program.clusters) {
      const name = cluster.name?.value ?? "";
      if (!this.clusters.has(name)) this.clusters.set(name, cluster);
    }
    this.managers = managersOf(program);
    this.routes = routeConfigurationsOf(program).flatMap((one) => this.routesOf(one));
    this.fallbacks = this.routes.flatMap((placed) => this.fallbackOf(placed) ?? []);
  }

  cluster(name: string): Cluster | undefined {
    return this.clusters.get(name);
  }

  /** Whether every cluster is in the file: none comes by CDS, and the file is no part of a whole. */
  get knowsAllClusters(): boolean {
    return this.program.kind === "bootstrap" && !this.program.dynamicClusters;
  }

  /** The distinct clusters of a route's attempts. */
  clustersOf({ groups }: FallbackRoute): Cluster[] {
    const names = new Set(groups.flatMap((group) => group.map(({ name }) => name)));
    return [...names].flatMap((name) => this.clusters.get(name) ?? []);
  }

  /** The clusters whose retry breaker counts: those of attempt 1, or the composite cluster itself. */
  firstClusters({ groups, composite }: FallbackRoute): Cluster[] {
    if (composite !== undefined) return [composite];
    return (groups[0] ?? []).flatMap(({ name }) => this.clusters.get(name) ?? []);
  }

  private routesOf(configuration: RouteConfiguration): PlacedRoute[] {
    const managers = this.managers.filter((manager) => manager.routeConfigurations.includes(configuration));
    return configuration.virtualHosts.flatMap((virtualHost) =>
      virtualHost.routes.map((route) => ({ configuration, virtualHost, route, managers })),
    );
  }

  private fallbackOf(placed: PlacedRoute): FallbackRoute | undefined {
    const { attempts, action, retries } = placed.route;
    if (attempts === undefined || action.kind !== "route") return undefined;
    const composite =
      attempts.source.kind === "composite" ? this.clusters.get(attempts.source.cluster.value) : undefined;
    const groups = composite?.composite?.clusters.map((one) => [ofValue(one)]) ?? attempts.groups.map(groupOf);
    const first = (groups[0] ?? [])[0];
    const own = this.clusters.get(composite?.name?.value ?? first?.name ?? "")?.protocolOptions?.retryPolicy;
    const policy = own ?? retries?.effective;
    return {
      ...placed,
      action: action.route,
      attempts,
      groups,
      composite,
      policy,
      opaquePolicy: policy === undefined && retries?.typed !== undefined,
      at: policy ?? action.route,
    };
  }
}

function ofValue({ value, origin }: Value<string>): NamedCluster {
  return { name: value, weight: 1, at: { origin } };
}

function groupOf({ clusters }: Attempts["groups"][number]): NamedCluster[] {
  return clusters.map(({ name, weight }) => ({ name: name.value, weight, at: name }));
}

/** The conditions of a policy. */
export function conditionsOf(policy: RetryPolicy | undefined): ReadonlySet<string> {
  return new Set(policy?.retryOn?.value ?? []);
}

/** How many attempts a request may have. */
export function attemptsOf({ policy }: FallbackRoute): number {
  return conditionsOf(policy).size === 0 ? 1 : (policy?.numRetries?.value ?? 1) + 1;
}

/** Routes that have somewhere else to go, and a policy that the model knows. */
export function withPolicy(context: CheckContext): (FallbackRoute & { policy: RetryPolicy })[] {
  return context.fallbacks.filter(hasPolicy).filter(({ groups }) => groups.length > 1);
}

function hasPolicy(route: FallbackRoute): route is FallbackRoute & { policy: RetryPolicy } {
  return route.policy !== undefined;
}

export function quoted(name: string): string {
  return JSON.stringify(name);
}

/** The retry policies of routes and virtual hosts. */
export function allPolicies({ routes }: CheckContext): RetryPolicy[] {
  const policies = routes.flatMap(({ route, virtualHost }) => [
    route.action.kind === "route" ? route.action.route.retryPolicy : undefined,
    virtualHost.retryPolicy,
  ]);
  return [...new Set(policies)].filter((policy) => policy !== undefined);
}
