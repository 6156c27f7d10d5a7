import type { HedgePolicy, Retries, RetryPolicy } from "../model/retries.js";
import type { VirtualHost } from "../model/route.js";
import type { Value } from "../model/origin.js";
import type { Cursor } from "../yaml/cursor.js";
import { bool, duration, fraction, json, number, numbers, snakeJson, valueOf } from "./fields.js";
import { readHeaderMatcher } from "./match.js";
import { originOf } from "./place.js";

/** `envoy.config.route.v3.RetryPolicy` in the field `retry_policy` of a message. */
export function readRetryPolicy(holder: Cursor | undefined): RetryPolicy | undefined {
  return readPolicy(holder?.field("retry_policy"));
}

/** The retry policy in force at one level, in whichever of its two fields it stands. */
export function policyOf(holder: Cursor | undefined): RetryPolicy | undefined {
  return readRetryPolicy(holder) ?? readPolicy(holder?.field("retry_policy_typed_config"));
}

function readPolicy(policy: Cursor | undefined): RetryPolicy | undefined {
  if (policy === undefined) return undefined;
  const backOff = policy.field("retry_back_off");
  return {
    retryOn: conditions(policy),
    numRetries: number(policy, "num_retries"),
    perTryTimeout: duration(policy, "per_try_timeout"),
    perTryIdleTimeout: duration(policy, "per_try_idle_timeout"),
    retriableStatusCodes: numbers(policy, "retriable_status_codes"),
    retriableHeaders: policy.list("retriable_headers").map(readHeaderMatcher),
    retriableRequestHeaders: policy.list("retriable_request_headers").map(readHeaderMatcher),
    backOff: backOff && {
      base: duration(backOff, "base_interval"),
      max: duration(backOff, "max_interval"),
      origin: originOf(backOff),
    },
    rateLimitedBackOff: json(policy, "rate_limited_retry_back_off"),
    refreshCluster: bool(policy, "refresh_cluster_on_retry"),
    hostSelectionRetryMaxAttempts: number(policy, "host_selection_retry_max_attempts"),
    retryHostPredicates: json(policy, "retry_host_predicate"),
    retryPriority: json(policy, "retry_priority"),
    get json() {
      return snakeJson(policy);
    },
    origin: originOf(policy),
  };
}

/** `envoy.config.route.v3.HedgePolicy`. */
export function readHedgePolicy(holder: Cursor | undefined): HedgePolicy | undefined {
  const policy = holder?.field("hedge_policy");
  return (
    policy && {
      onPerTryTimeout: bool(policy, "hedge_on_per_try_timeout"),
      initialRequests: number(policy, "initial_requests"),
      additionalRequestChance: fraction(policy, "additional_request_chance"),
      origin: originOf(policy),
    }
  );
}

/** The retry policies around a route's action. */
export function readRetries(
  action: Cursor,
  virtualHost: Cursor,
  shared: Pick<VirtualHost, "retryPolicy" | "hedgePolicy">,
): Retries {
  const route = readRetryPolicy(action);
  const effective = route ?? shared.retryPolicy;
  return {
    route,
    virtualHost: shared.retryPolicy,
    effective,
    typed: json(action, "retry_policy_typed_config") ?? json(virtualHost, "retry_policy_typed_config"),
    hedging: readHedgePolicy(action) ?? shared.hedgePolicy,
    attempts: attemptsOf(policyOf(action) ?? policyOf(virtualHost)),
  };
}

/** Retries of a policy that does not say how many. */
const DEFAULT_RETRIES = 1;

/** How many attempts ask for a cluster anew. Without a refresh every attempt stays on the cluster of the first. */
export function attemptsOf(policy: RetryPolicy | undefined): number {
  if (policy?.refreshCluster?.value !== true) return 1;
  const retries = policy.numRetries?.value ?? DEFAULT_RETRIES;
  return Number.isInteger(retries) && retries >= 0 ? retries + 1 : 1;
}

function conditions(policy: Cursor): Value<readonly string[]> | undefined {
  const at = policy.field("retry_on");
  const names = (at?.string() ?? "").split(",").map((name) => name.trim());
  return (
    at &&
    valueOf(
      at,
      names.filter((name) => name !== ""),
    )
  );
}
