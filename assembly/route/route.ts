import { ByteBuffer } from "../byte-buffer";
import { Bytes, NOTHING, encode } from "../bytes";
import { Plan } from "../decide/plan";
import { decimal } from "../text";

/** A retry policy that replaces a route's, as the values of the router's request headers; empty: not set. */
@final
export class RetryOverride {
  retryOn: Bytes = NOTHING;
  numRetries: Bytes = NOTHING;
  perTryTimeout: Bytes = NOTHING;
  /** Joined with ",". */
  retriableStatusCodes: Bytes = NOTHING;
}

/** A route as specifiers see it. Properties that a specifier may override are null where nobody did. */
export abstract class Route {
  /** The configured route below all overrides. */
  abstract get base(): BaseRoute;

  /** The cluster of every attempt, instead of the route's own. */
  get cluster(): Bytes | null {
    return null;
  }

  /** A chain of priority groups instead of the route's own cluster. */
  get groups(): Plan | null {
    return null;
  }

  /** Time-out of the whole request in milliseconds, as decimal digits; 0 is none. */
  get timeout(): Bytes | null {
    return null;
  }

  get retry(): RetryOverride | null {
    return null;
  }

  /** Adds the request's header transforms in order, see `header-transforms.ts`. */
  addRequestTransforms(out: ByteBuffer): void {}

  addResponseTransforms(out: ByteBuffer): void {}

  /**
   * What filter state `wasm.attempt_router.given` must hold for the proxy to choose the route that it falls back to where
   * the match of a template does not hold; null where the module saw that it holds.
   */
  get fallback(): Bytes | null {
    return null;
  }

  /** Whether the route forwards requests, so that there is something to override; not a redirect or direct response. */
  get hasEntry(): bool {
    return this.base.isEntry;
  }

  /** The name it was configured with. */
  get name(): Bytes {
    return this.base.configuredName;
  }
}

/** A route of the configuration: the one that matching resolved, or a template. */
@final
export class BaseRoute extends Route {
  /** It is the route that matching resolved. */
  isResolved: bool = false;

  constructor(
    readonly configuredName: Bytes,
    /** What filter state `wasm.attempt_router.route` must hold for the proxy to choose the route. */
    readonly pin: Bytes,
    readonly isEntry: bool,
    /** Its cluster, where the configuration names a single one. */
    readonly ownCluster: Bytes,
    /** Its own priority groups. */
    readonly plan: Plan | null,
  ) {
    super();
  }

  get base(): BaseRoute {
    return this;
  }
}

/** Wraps a route and overrides what is set; everything else is the wrapped route's. */
@final
export class DelegatingRoute extends Route {
  private ownGroups: Plan | null = null;
  private ownCluster: Bytes | null = null;
  private ownTimeout: Bytes | null = null;
  private ownRetry: RetryOverride | null = null;
  private ownFallback: Bytes | null = null;
  private addedToRequest: Bytes = NOTHING;
  private addedToResponse: Bytes = NOTHING;

  private ownBase: BaseRoute;

  constructor(private wrapped: Route) {
    super();
    this.ownBase = wrapped.base;
  }

  /** Begins anew, as a wrapper of `route` that overrides nothing. */
  reset(route: Route): this {
    this.wrapped = route;
    this.ownBase = route.base;
    this.ownGroups = null;
    this.ownCluster = null;
    this.ownTimeout = null;
    this.ownRetry = null;
    this.ownFallback = null;
    this.addedToRequest = NOTHING;
    this.addedToResponse = NOTHING;
    return this;
  }

  get base(): BaseRoute {
    return this.ownBase;
  }

  get cluster(): Bytes | null {
    if (this.ownGroups != null) return null;
    const own = this.ownCluster;
    return own != null ? own : this.wrapped.cluster;
  }

  get groups(): Plan | null {
    if (this.ownCluster != null) return null;
    const own = this.ownGroups;
    return own != null ? own : this.wrapped.groups;
  }

  get timeout(): Bytes | null {
    const own = this.ownTimeout;
    return own != null ? own : this.wrapped.timeout;
  }

  get retry(): RetryOverride | null {
    const own = this.ownRetry;
    return own != null ? own : this.wrapped.retry;
  }

  get fallback(): Bytes | null {
    const own = this.ownFallback;
    return own != null ? own : this.wrapped.fallback;
  }

  addRequestTransforms(out: ByteBuffer): void {
    this.wrapped.addRequestTransforms(out);
    out.add(this.addedToRequest);
  }

  addResponseTransforms(out: ByteBuffer): void {
    this.wrapped.addResponseTransforms(out);
    out.add(this.addedToResponse);
  }

  /** Sends every attempt to this cluster; one that does not exist fails the request. */
  setCluster(name: Bytes): void {
    this.ownCluster = name;
    this.ownGroups = null;
  }

  /** Sends attempt n to group n. */
  setGroups(groups: Plan): void {
    this.ownGroups = groups;
    this.ownCluster = null;
  }

  setTimeout(milliseconds: u64): void {
    this.ownTimeout = encode(decimal(milliseconds));
  }

  setTimeoutBytes(milliseconds: Bytes): void {
    this.ownTimeout = milliseconds;
  }

  setRetry(policy: RetryOverride): void {
    this.ownRetry = policy;
  }

  setFallback(pin: Bytes): void {
    this.ownFallback = pin;
  }

  /** Adds transforms that run after those of the wrapped route. */
  transformRequest(transforms: Bytes): void {
    this.addedToRequest = transforms;
  }

  transformResponse(transforms: Bytes): void {
    this.addedToResponse = transforms;
  }
}

// One request is decided at a time, and its routes mean nothing after it.
const wrappers: Array<DelegatingRoute> = [];
let inUse = 0;

/** A `DelegatingRoute` for the request that is decided now: one of an earlier request, where there is one. */
export function wrap(route: Route): DelegatingRoute {
  if (inUse == wrappers.length) wrappers.push(new DelegatingRoute(route));
  return wrappers[inUse++].reset(route);
}

/** The next request begins, and may use what `wrap` gave to those before. */
export function reuseWrappers(): void {
  inUse = 0;
}
