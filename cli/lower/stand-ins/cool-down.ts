// `cool_down`: a cluster whose answers say that it cannot serve is left out for a while. Envoy's outlier detection ejects its hosts,
// and attempts then pass the cluster over, as one without a healthy host.

import type { Finding } from "../../findings.js";
import { COOL_DOWN_DEFAULTS, type CoolDown } from "../../model/picking.js";
import { cursorAt } from "../../read/place.js";
import { snakeCase, type Cursor } from "../../yaml/cursor.js";
import type { Editor } from "../../yaml/tree.js";
import type { Json } from "../../yaml/scalar.js";
import { canonicalJson, isMessage, messageJson } from "../settings.js";
import { HTTP_PROTOCOL_OPTIONS } from "../types.js";

type Message = { [key: string]: Json };

const FIELDS = ["statuses", "consecutive", "base", "max", "respect_retry_after"];
/** Fields of a cluster that Envoy no longer looks at beside HttpProtocolOptions. */
const DEPRECATED = ["http_protocol_options", "http2_protocol_options", "common_http_protocol_options"];
/** What an attempt without an answer counts as: after a reset, and after a time-out. */
const WITHOUT_ANSWER = [503, 504];
/** Milliseconds between two looks at whether a time is over. */
const [SHORTEST_LOOK, LONGEST_LOOK] = [100, 1000];

/** What is wrong with a setting. */
export function coolDownFindings(coolDown: CoolDown): Finding[] {
  const setting = cursorAt(coolDown.origin);
  if (setting.map === undefined) return [setting.finding(`expected an object with ${FIELDS.join(", ")}, found none`)];
  const unknown = setting.entries().filter(({ key }) => !FIELDS.includes(snakeCase(key)));
  const { statuses, consecutive, base, max } = coolDown;
  const rules: [string, boolean, string][] = [
    ["statuses", isStatuses(setting, statuses), "a list of statuses from 400 to 599"],
    ["consecutive", isWhole(setting, "consecutive", consecutive), "a whole number from 1 on"],
    ["base", isDuration(setting, "base", base), "a duration of at least 0.1s"],
    ["max", isDuration(setting, "max", max) && max >= base, "a duration that is not below base"],
    ["respect_retry_after", setting.field("respect_retry_after")?.json() !== true, RETRY_AFTER],
  ];
  return [
    ...unknown.map(({ key, value }) => value.finding(`expected one of ${FIELDS.join(", ")}, found ${key}`)),
    ...rules.filter(([, holds]) => !holds).map(([field, , expected]) => wrong(setting, field, expected)),
  ];
}

const RETRY_AFTER =
  "no respect_retry_after, which Envoy's outlier detection cannot do: write the time that providers usually ask for as base";

function wrong(setting: Cursor, field: string, expected: string): Finding {
  const found = setting.field(field)?.json();
  return setting.findingBelow(
    [field],
    `expected ${expected}, found ${found === undefined ? "none" : canonicalJson(found)}`,
  );
}

function isStatuses(setting: Cursor, statuses: readonly number[]): boolean {
  const count = setting.list("statuses").length;
  return (
    count > 0 && count === statuses.length && statuses.every((one) => Number.isInteger(one) && one >= 400 && one < 600)
  );
}

function isWhole(setting: Cursor, field: string, value: number): boolean {
  const isRead = setting.field(field) === undefined || Number(setting.field(field)?.json()) === value;
  return isRead && Number.isInteger(value) && value >= 1;
}

function isDuration(setting: Cursor, field: keyof typeof COOL_DOWN_DEFAULTS, value: number): boolean {
  const isRead = setting.field(field) === undefined || /^\d+(\.\d+)?s$/.test(setting.field(field)?.string() ?? "");
  return isRead && value >= SHORTEST_LOOK;
}

/** Whether two settings mean the same. */
export function isSame(one: CoolDown, other: CoolDown): boolean {
  return (
    canonicalJson([outlierDetection(one), errorMatcher(one)]) ===
    canonicalJson([outlierDetection(other), errorMatcher(other)])
  );
}

/** The `outlier_detection` of a cluster that cools down. */
function outlierDetection({ statuses, consecutive, base, max }: CoolDown): Message {
  const look = Math.min(Math.max(base / 10, SHORTEST_LOOK), LONGEST_LOOK);
  const counts = statuses.some((status) => WITHOUT_ANSWER.includes(status));
  return {
    consecutive_5xx: consecutive,
    interval: seconds(look),
    base_ejection_time: seconds(base),
    max_ejection_time: seconds(max),
    max_ejection_percent: 100,
    enforcing_consecutive_5xx: 100,
    enforcing_success_rate: 0,
    // Answers to health checks say nothing of quotas.
    successful_active_health_check_uneject_host: false,
    ...(counts
      ? {}
      : {
          split_external_local_origin_errors: true,
          enforcing_consecutive_local_origin_failure: 0,
          enforcing_local_origin_success_rate: 0,
        }),
  };
}

/** `HttpProtocolOptions.outlier_detection`: what counts. Envoy reads it from the cluster that the route names. */
export function errorMatcher({ statuses }: CoolDown): Message {
  const rules = [...new Set(statuses)].sort().map((status) => ({
    http_response_headers_match: { headers: [{ name: ":status", string_match: { exact: String(status) } }] },
  }));
  const [only, ...others] = rules;
  return { error_matcher: others.length === 0 && only !== undefined ? only : { or_match: { rules } } };
}

/** The options of a cluster, in JSON form, with what counts. */
export function withErrorMatcher(options: Json | undefined, coolDown: CoolDown): Message {
  const all = isMessage(options) ? options : {};
  const own = all[HTTP_PROTOCOL_OPTIONS];
  return {
    ...all,
    [HTTP_PROTOCOL_OPTIONS]: { ...(isMessage(own) ? own : newOptions()), outlier_detection: errorMatcher(coolDown) },
  };
}

function newOptions(): Message {
  return {
    "@type": `type.googleapis.com/${HTTP_PROTOCOL_OPTIONS}`,
    explicit_http_config: { http_protocol_options: {} },
  };
}

/** Why a cluster cannot cool down; undefined where it can, or does so already. */
export function whyNotCoolable(cluster: Cursor, coolDown: CoolDown): string | undefined {
  const own = cluster.field("outlier_detection");
  if (own !== undefined && !isEqual(own, outlierDetection(coolDown))) return "has outlier_detection of its own";
  const matcher = optionsOf(cluster)?.field("outlier_detection");
  if (matcher !== undefined && !isEqual(matcher, errorMatcher(coolDown))) return "has an error_matcher of its own";
  if (optionsOf(cluster) === undefined && DEPRECATED.some((field) => cluster.field(field) !== undefined))
    return "has protocol options outside of typed_extension_protocol_options";
  const panic = cluster.at("common_lb_config", "healthy_panic_threshold");
  const never = panic !== undefined && Number(panic.field("value")?.json() ?? 0) === 0;
  const fails = cluster.at("common_lb_config", "zone_aware_lb_config", "fail_traffic_on_panic")?.bool() === true;
  return never || fails ? "has no panic routing, so that it would answer 503 while all clusters cool down" : undefined;
}

/** Writes what makes a cluster cool down. */
export function writeCoolDown(cluster: Cursor, coolDown: CoolDown, editor: Editor): void {
  if (cluster.map === undefined) return;
  const options = optionsOf(cluster);
  const all = cluster.field("typed_extension_protocol_options");
  if (options?.field("outlier_detection") === undefined) {
    if (options?.map !== undefined) editor.set(options.map, "outlier_detection", errorMatcher(coolDown));
    else if (all?.map !== undefined)
      editor.set(all.map, HTTP_PROTOCOL_OPTIONS, { ...newOptions(), outlier_detection: errorMatcher(coolDown) });
    else editor.set(cluster.map, "typed_extension_protocol_options", withErrorMatcher(undefined, coolDown));
  }
  if (cluster.field("outlier_detection") === undefined)
    editor.set(cluster.map, "outlier_detection", outlierDetection(coolDown));
}

function optionsOf(cluster: Cursor): Cursor | undefined {
  return cluster.at("typed_extension_protocol_options", HTTP_PROTOCOL_OPTIONS);
}

function isEqual(field: Cursor, value: Json): boolean {
  return canonicalJson(messageJson(field, [])) === canonicalJson(value);
}

function seconds(milliseconds: number): string {
  return `${milliseconds / 1000}s`;
}
