// Settings about the answers of attempts: `record_attempts`, `steps` and `min_attempt_time`, of a route or of its virtual
// host. They need the module in both roles, and steps need every cluster of the groups in every slot.

import type { Finding } from "../findings.js";
import type { Cursor } from "../yaml/cursor.js";
import type { Json } from "../yaml/scalar.js";
import { PICKS } from "./picks.js";
import { policyOf, refreshesCluster } from "./retry-policy.js";
import { isMessage } from "./settings.js";
import type { Slot } from "./slot-tree.js";
import { METADATA_NAMESPACE } from "./types.js";

type Settings = { [key: string]: Json };

const RECORD = "record_attempts";
const STEPS = "steps";
const MIN_TIME = "min_attempt_time";
const ANSWERS = [RECORD, STEPS, MIN_TIME];
/** What a virtual host may say for its routes. */
const OF_VIRTUAL_HOST = [...ANSWERS, ...PICKS, "skip_clusters_without_hosts"];
const TIMEOUT = "timeout_ms";
/** What Envoy gives a route that says nothing. */
const DEFAULT_TIMEOUT = 15_000;
const PER_TRY_TIMEOUT = "per_try_timeout_ms";
/** The condition of a retry policy under which an answer that STOP marks is retried all the same. */
const RETRIES_MARKED = "envoy-ratelimited";

/** Whether the answers of attempts matter, so that the upstream role has work on a route; also where the module refuses them. */
export function watchesAnswers(settings: Settings): boolean {
  const record = settings[RECORD] ?? false;
  return record !== false || hasSteps(settings) || settings[MIN_TIME] !== undefined;
}

/** What a route's own settings say with what its virtual host says for it, and what the module must know of answers. */
export function withAnswers(own: Settings, route: Cursor, host: Cursor | undefined): Settings {
  const shared = host?.at("metadata", "filter_metadata", METADATA_NAMESPACE)?.entries() ?? [];
  const ofHost = shared.filter(({ key }) => OF_VIRTUAL_HOST.includes(key)).map(({ key, value }) => [key, value.json()]);
  const settings: Settings = { ...(Object.fromEntries(ofHost) as Settings), ...own };
  if (!watchesAnswers(settings)) return settings;
  const perTry = milliseconds(policyOf(route, host)?.field("per_try_timeout")) ?? 0;
  const timeout = milliseconds(route.at("route", "timeout")) ?? DEFAULT_TIMEOUT;
  return {
    ...settings,
    ...(perTry > 0 && { [PER_TRY_TIMEOUT]: perTry }),
    ...(settings[MIN_TIME] !== undefined && timeout > 0 && { [TIMEOUT]: timeout }),
  };
}

/** Settings of a route or virtual host without those that only routes with groups can have. */
export function withoutGroupSettings(settings: Settings): Settings {
  return Object.fromEntries(Object.entries(settings).filter(([key]) => ![...ANSWERS, ...PICKS].includes(key)));
}

/** The slots of a route whose steps may lead any attempt to any group. */
export function slotsForSteps(slots: Slot[], settings: Settings): Slot[] {
  if (!hasSteps(settings)) return slots;
  const every = [...new Set(slots.flatMap((slot) => [slot.defaultCluster, ...slot.otherClusters]))];
  return slots.map((slot) => ({ ...slot, otherClusters: [...new Set([...every, ...slot.otherClusters])] }));
}

/** What is wrong with settings about answers where the route stands. `composite`: it may meet a composite cluster. */
export function answersFindings(settings: Settings, route: Cursor, host: Cursor, composite: boolean): Finding[] {
  const findings: Finding[] = [];
  if (hasSteps(settings) && settings["slot_form"] === "HEADERS") {
    findings.push(route.finding("expected cluster_selection: MATCHER beside steps, found HEADER"));
  }
  if (hasSteps(settings) && composite) {
    findings.push(route.finding("expected no composite clusters beside steps, found some"));
  }
  if (hasSteps(settings) && !refreshesCluster(route, host)) {
    findings.push(
      route.finding("expected refresh_cluster_on_retry: true in the retry policy beside steps, found none"),
    );
  }
  const conditions = policyOf(route, host)?.field("retry_on")?.string()?.split(",") ?? [];
  const steps = Array.isArray(settings[STEPS]) ? settings[STEPS] : [];
  const stops = settings[MIN_TIME] !== undefined || steps.some((step) => isMessage(step) && step["next"] === "STOP");
  if (stops && conditions.some((condition) => condition.trim() === RETRIES_MARKED)) {
    findings.push(route.finding(`expected no ${RETRIES_MARKED} in retry_on beside STOP or ${MIN_TIME}, found it`));
  }
  return findings;
}

function hasSteps(settings: Settings): boolean {
  const steps = settings[STEPS] ?? [];
  return !Array.isArray(steps) || steps.length > 0;
}

/** A duration in whole milliseconds; undefined where it is absent, or none. */
function milliseconds(duration: Cursor | undefined): number | undefined {
  const seconds = Number(/^(\d[\d.]*)s$/.exec(duration?.string() ?? "")?.[1]);
  return Number.isFinite(seconds) ? Math.floor(seconds * 1000) : undefined;
}
