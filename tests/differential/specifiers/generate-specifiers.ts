// Random lists of the shipped specifiers.

import type { Random } from "../../fuzz/random.js";
import type { Config } from "../../support/case.js";
import { condition } from "./generate-matches.js";
import { randomGroups } from "./generate.js";
import { AUDIT_HEADER } from "./outcome.js";

const TYPE = "type.googleapis.com/attempt_router.v1.";
const ACTIONS = ["APPEND_IF_EXISTS_OR_ADD", "ADD_IF_ABSENT", "OVERWRITE_IF_EXISTS_OR_ADD", "OVERWRITE_IF_EXISTS"];
/** Sums that divide 100, so that values below it show every outcome. */
const WEIGHTS = [
  [1, 1],
  [1, 4],
  [0, 1, 4],
  [1, 1, 2],
  [3, 0, 2],
];

/** One to four specifiers; `template` makes a native route. */
export function randomSpecifiers(random: Random, template: (random: Random) => Config): Config[] {
  return Array.from({ length: 1 + random.below(4) }, (_, i) => {
    const [type, fields] = specifier(random, template);
    const common = {
      ...(random.chance(0.5) && { when: condition(random) }),
      ...(random.chance(0.12) && { final: true }),
    };
    return { name: `s${i}`, typed_config: { "@type": TYPE + type, ...common, ...fields } };
  });
}

function specifier(random: Random, template: (random: Random) => Config): [string, Config] {
  const dice = random.below(10);
  if (dice < 4) return ["RouteOverride", override(random)];
  if (dice < 7) return ["RouteTemplate", templates(random, template)];
  return dice < 8 ? ["DropRoute", {}] : ["Audit", { response_header: AUDIT_HEADER }];
}

function templates(random: Random, template: (random: Random) => Config): Config {
  const other = { template_id: "other", route: { match: { prefix: "/" }, route: { cluster: "d" } } };
  return {
    template_id: "t",
    templates: [{ template_id: "t", route: template(random) }, ...(random.chance(0.3) ? [other] : [])],
  };
}

function override(random: Random): Config {
  const fields = {
    ...cluster(random),
    ...(random.chance(0.3) && { timeout: random.pick(["0s", "5s", "11s"]) }),
    ...(random.chance(0.3) && { retry_policy: retryPolicy(random) }),
    ...transforms(random, "request"),
    ...transforms(random, "response"),
  };
  return Object.keys(fields).length > 0 ? fields : { timeout: "4s" };
}

function cluster(random: Random): Config {
  return random.pick<() => Config>([
    () => ({}),
    () => ({ cluster: random.pick(["b", "d", "x", "z"]) }),
    () => ({ weighted_clusters: random.pick(WEIGHTS).map((weight, i) => ({ name: "acy"[i], weight })) }),
    () => ({ cluster_header: "x-to" }),
    () => ({ cluster_metadata: { namespace: "app", path: random.pick([["tier"], ["deep", "tier"], ["n"]]) } }),
    () => ({ priority_groups: randomGroups(random) }),
  ])();
}

function retryPolicy(random: Random): Config {
  return {
    ...(random.chance(0.85) && { retry_on: random.pick(["5xx", "retriable-status-codes"]) }),
    ...(random.chance(0.8) && { num_retries: random.below(4) }),
    ...(random.chance(0.3) && { per_try_timeout: random.pick(["1s", "3s"]) }),
    retriable_status_codes: [429, 503],
  };
}

// One name an action: what one specifier does to one header twice is the order in which Envoy evaluates, not the chain's.
function transforms(random: Random, kind: "request" | "response"): Config {
  const names = ["x-t", "x-u"].filter(() => random.chance(0.35));
  const add = names.map((key) => ({
    header: { key, value: `v${random.below(9)}` },
    ...(random.chance(0.7) && { append_action: random.pick(ACTIONS) }),
  }));
  return {
    ...(add.length > 0 && { [`${kind}_headers_to_add`]: add }),
    ...(random.chance(0.15) && { [`${kind}_headers_to_remove`]: [random.pick(["x-t", "x-u"])] }),
  };
}
