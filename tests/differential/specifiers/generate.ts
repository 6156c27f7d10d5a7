// Random route configurations in which every route, every virtual host without a route and every configuration without a
// virtual host is a chain of specifiers of its own.

import { Random } from "../../fuzz/random.js";
import type { ModelRequest } from "../../module/route-specifiers.model.js";
import type { Config } from "../../support/case.js";
import { headerMatchers, parameterMatchers, randomRequest, templateMatch, HOSTS } from "./generate-matches.js";
import { randomSpecifiers } from "./generate-specifiers.js";

/** What a world has of each. */
const CONFIGS = 8;
const ROUTES = 6;
const REQUESTS_PER_CHAIN = 4;
const EXTENSION = "envoy.router.cluster_specifier_plugin.priority_group";
const SPECIFIER =
  "type.googleapis.com/envoy.extensions.router.cluster_specifiers.priority_group.v3.PriorityGroupClusterSpecifier";

/** A request to one of the listeners. */
export interface WorldRequest extends Omit<ModelRequest, "seed"> {
  listener: number;
}

/** Route configurations, one for each listener, and requests to them. */
export interface World {
  configs: Config[];
  requests: WorldRequest[];
  chains: number;
}

/** Equal seeds give equal worlds. */
export function generateWorld(seed: number): World {
  const random = new Random(seed);
  const configs = Array.from({ length: CONFIGS }, (_, index) => routeConfig(random, index));
  const requests: WorldRequest[] = [];
  let chains = 0;
  for (const listener of configs.keys()) {
    for (const host of [...HOSTS, "elsewhere.test"]) {
      const routes = host === "elsewhere.test" ? 1 : ROUTES + 1;
      chains += routes;
      for (let i = 0; i < routes; i++) {
        for (let k = 0; k < REQUESTS_PER_CHAIN; k++) requests.push({ listener, ...randomRequest(random, host, i) });
      }
    }
  }
  return { configs, requests, chains };
}

function routeConfig(random: Random, index: number): Config {
  return {
    name: `rc${index}`,
    ...specifiers(random, 0.5),
    virtual_hosts: HOSTS.map((domain, host) => ({
      name: `vh${host}`,
      domains: [domain],
      ...specifiers(random, 0.6),
      routes: Array.from({ length: ROUTES }, (_, i) => ({ ...route(random, i), ...specifiers(random, 0.8) })),
    })),
  };
}

function specifiers(random: Random, probability: number): Config {
  return random.chance(probability) ? { route_specifiers: randomSpecifiers(random, nativeTemplate) } : {};
}

// The sixth path of a virtual host is no route's.
function route(random: Random, index: number): Config {
  const prefix = `/r${index}`;
  const path = random.pick<Config>([
    { prefix },
    { prefix },
    { path_separated_prefix: prefix },
    { path: `${prefix}/api` },
  ]);
  const match = {
    ...path,
    ...(random.chance(0.12) && { headers: headerMatchers(random) }),
    ...(random.chance(0.12) && { query_parameters: parameterMatchers(random) }),
  };
  return { match, ...(random.chance(0.9) && { name: `route${index}` }), ...action(random, false) };
}

function nativeTemplate(random: Random): Config {
  return { match: templateMatch(random), ...(random.chance(0.5) && { name: "named" }), ...action(random, true) };
}

function action(random: Random, isTemplate: boolean): Config {
  const value = isTemplate ? "template" : "route";
  const own = (field: string) => ({ [field]: [{ header: { key: "x-own", value } }] });
  const more = random.chance(0.3) ? own("response_headers_to_add") : {};
  if (random.chance(0.1)) return { direct_response: { status: 299, body: { inline_string: value } }, ...more };
  if (random.chance(0.08)) return { redirect: { path_redirect: `/moved/${value}`, strip_query: true }, ...more };
  const to = destination(random);
  const { retry_policy } = to;
  const policy = retry_policy ?? (random.chance(0.5) ? { retry_policy: retryPolicy(random) } : {});
  return {
    ...more,
    ...(random.chance(0.3) && own("request_headers_to_add")),
    route: {
      ...to,
      ...policy,
      ...(random.chance(0.3) && { timeout: random.pick(["2s", "7s", "0s"]) }),
      ...(random.chance(0.2) && { prefix_rewrite: `/${value}` }),
    },
  };
}

function destination(random: Random): Config {
  const dice = random.below(10);
  // What is picked at random never fails, so that no retry picks again.
  if (dice === 0)
    return { weighted_clusters: { clusters: ["a", "b"].map((name) => ({ name, weight: 1 })) }, retry_policy: {} };
  if (dice === 1) return { cluster_header: "x-to" };
  if (dice < 5) return priorityGroups(random);
  return { cluster: random.pick(["a", "b", "x", "y", "z"]) };
}

function priorityGroups(random: Random): Config {
  const typed_config = { "@type": SPECIFIER, header_name: "x-pick", priority_groups: randomGroups(random) };
  return { inline_cluster_specifier_plugin: { extension: { name: EXTENSION, typed_config } } };
}

/** One to three groups of one or two clusters. */
export function randomGroups(random: Random): Config[] {
  return Array.from({ length: 1 + random.below(3) }, (_, i) => ({
    name: `g${i}`,
    clusters: random.pick([[1], [3], [1, 1], [4, 1], [2, 3]]).map((weight) => ({
      cluster_name: random.pick(["a", "c", "x", "y", "z"]),
      weight,
    })),
  }));
}

function retryPolicy(random: Random): Config {
  return {
    retry_on: random.pick(["5xx", "5xx,retriable-status-codes"]),
    retriable_status_codes: [429],
    num_retries: random.below(4),
    ...(random.chance(0.7) && { refresh_cluster_on_retry: true }),
    ...(random.chance(0.3) && { per_try_timeout: random.pick(["1s", "3s"]) }),
    retry_back_off: { base_interval: "0.001s", max_interval: "0.002s" },
  };
}
