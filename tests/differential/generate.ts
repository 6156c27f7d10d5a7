// Random legal native configurations, as conformance cases without an expectation: what native Envoy does is the expectation.

import { Random } from "../fuzz/random.js";
import type { Case, Config, RequestSpec } from "../support/case.js";
import { protocolOf, type Reply, type Script, type UpstreamProtocol, type UpstreamSpec } from "../support/upstreams.js";
import { earlierFilters, OVERRIDE_NAMESPACE, upstreamFilters } from "./filters.js";

const TYPE = "type.googleapis.com/envoy.extensions";
const HTTP_OPTIONS = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions";
const UPSTREAMS = ["a", "b", "c", "d", "e", "f"];
const EMPTY = ["gone", "lost"];
const SHADOW = "shadow";
const REQUESTS = 24;

/** A configuration with several routes of different shapes, and requests to them. Equal seeds give equal cases. */
export function generate(seed: number): Case {
  return new Generator(new Random(seed)).generate(seed);
}

class Generator {
  private readonly subsets: boolean;
  private readonly composites: string[] = [];
  private readonly routes: string[] = [];

  constructor(private readonly random: Random) {
    this.subsets = random.chance(0.15);
  }

  generate(seed: number): Case {
    const { random } = this;
    const virtualHosts = [this.virtualHost("v0", ["case.test"])];
    if (random.chance(0.4)) virtualHosts.push(this.virtualHost("v1", ["other.test"]));
    if (random.chance(0.5)) virtualHosts.push(this.virtualHost("rest", ["*"]));
    const composites = this.composites.map((name) => this.composite(name));
    const routerFilters = random.chance(0.2) ? upstreamFilters(random, UPSTREAMS) : undefined;
    const upstreams = Object.fromEntries(UPSTREAMS.map((name) => [name, this.upstream()]));
    return {
      file: `seed-${seed}.yaml`,
      name: `seed-${seed}`,
      about: "a random configuration",
      upstreams: { ...upstreams, [SHADOW]: 200 },
      clusters: Object.fromEntries(EMPTY.map((name) => [name, []])),
      cluster_settings: this.clusterSettings(upstreams),
      extra_clusters: composites,
      http_filters: earlierFilters(random),
      ...(routerFilters && { router: { upstream_http_filters: routerFilters } }),
      route_config: { name: "rc", ...this.levelFields(0.1), virtual_hosts: virtualHosts },
      ...(random.chance(0.2) && { lower: { splitWeights: true } }),
      observe: { flags: true, details: true },
      requests: Array.from({ length: REQUESTS }, () => this.request()),
    };
  }

  private upstream(): UpstreamSpec {
    const { random } = this;
    const dice = random.below(10);
    const script: Script =
      dice === 0 ? "refuse" : dice < 5 ? this.reply() : Array.from({ length: 2 + random.below(4) }, () => this.reply());
    return random.chance(0.15) ? { protocol: "http2", script } : script;
  }

  private reply(): Reply {
    const { random } = this;
    if (random.chance(0.12)) {
      return { status: 302, headers: { location: `http://case.test/r${random.below(6)}` } };
    }
    return random.pick<Reply>([200, 200, 200, 503, 503, 503, 429, 404, 500, "reset", 503]);
  }

  private clusterSettings(upstreams: Record<string, UpstreamSpec>): Record<string, Config> {
    const { random } = this;
    const entries = UPSTREAMS.flatMap((name): [string, Config][] => {
      const settings = {
        ...(this.subsets && random.chance(0.5) && subsets(random.pick(["NO_FALLBACK", "ANY_ENDPOINT"]))),
        ...(random.chance(0.1) &&
          memberFilters(upstreamFilters(random, UPSTREAMS), protocolOf(upstreams[name] ?? 200))),
        ...(random.chance(0.1) && { circuit_breakers: { thresholds: [{ max_retries: random.pick([0, 1, 100]) }] } }),
      };
      return Object.keys(settings).length === 0 ? [] : [[name, settings]];
    });
    return Object.fromEntries(entries);
  }

  private virtualHost(name: string, domains: string[]): Config {
    const routes = Array.from({ length: 1 + this.random.below(4) }, (_, i) => this.route(`/r${i}`, `${name}_r${i}`));
    return { name, domains, ...this.levelFields(0.2), routes };
  }

  /** Fields that a route configuration and a virtual host share. */
  private levelFields(probability: number): Config {
    const { random } = this;
    return {
      ...(random.chance(probability) && {
        request_headers_to_add: [{ header: { key: "x-level", value: `${random.below(9)}` } }],
      }),
      ...(random.chance(probability / 2) && { response_headers_to_remove: ["x-served-by-other"] }),
    };
  }

  private route(prefix: string, name: string): Config {
    const { random } = this;
    this.routes.push(prefix);
    const action: Config = {
      ...this.destination(),
      ...(random.chance(0.9) && { retry_policy: this.retryPolicy() }),
      ...(random.chance(0.2) && { prefix_rewrite: `/rewritten/${name}` }),
      ...(random.chance(0.3) && {
        internal_redirect_policy: { max_internal_redirects: 1 + random.below(3), redirect_response_codes: [302] },
      }),
      ...(random.chance(0.15) && { request_mirror_policies: [{ cluster: SHADOW }] }),
      ...(this.subsets && random.chance(0.6) && metadataMatch(random.pick(["blue", "green"]))),
    };
    const settings = this.ownSettings(JSON.stringify(action));
    return {
      match: random.chance(0.15) ? { prefix, headers: [{ name: "x-tier", present_match: true }] } : { prefix },
      ...(random.chance(0.9) && { name }),
      ...(settings && { metadata: { filter_metadata: { attempt_router: settings } } }),
      ...(random.chance(0.2) && { request_headers_to_add: [{ header: { key: "x-route", value: name } }] }),
      route: action,
    };
  }

  /** Settings that native Envoy does not know and that change nothing that it would do. */
  private ownSettings(action: string): Config | undefined {
    const { random } = this;
    if (action.includes("override_metadata_namespace") && random.chance(0.35)) return { cluster_selection: "HEADER" };
    if (action.includes('"composite') && random.chance(0.3)) return { availability: "PROBE" };
    return undefined;
  }

  private destination(): Config {
    const { random } = this;
    const dice = random.below(10);
    if (dice < 6) return this.priorityGroups();
    if (dice < 9) {
      const name = `composite${this.composites.length}`;
      this.composites.push(name);
      return { cluster: name };
    }
    return { cluster: random.pick([...UPSTREAMS, ...EMPTY]) };
  }

  private priorityGroups(): Config {
    const { random } = this;
    const groups = Array.from({ length: 1 + random.below(4) }, (_, i) => ({
      name: `g${i}`,
      clusters: Array.from({ length: random.pick([1, 1, 1, 2, 3]) }, () => ({
        cluster_name: random.chance(0.06) ? random.pick(EMPTY) : random.pick(UPSTREAMS),
        weight: random.pick([1, 1, 2, 5, 80]),
      })),
    }));
    const isWeighted = groups.some(({ clusters }) => new Set(clusters.map((one) => one.cluster_name)).size > 1);
    const byHash = random.chance(0.3);
    const specifier = {
      "@type": `${TYPE}.router.cluster_specifiers.priority_group.v3.PriorityGroupClusterSpecifier`,
      priority_groups: groups,
      // The internal random value cannot be compared request by request.
      ...(isWeighted || random.chance(0.2) ? (byHash ? { use_hash_policy: true } : { header_name: "x-pick" }) : {}),
      ...(random.chance(0.4) && { override_metadata_namespace: OVERRIDE_NAMESPACE }),
    };
    const extension = { name: "envoy.router.cluster_specifier_plugin.priority_group", typed_config: specifier };
    return {
      inline_cluster_specifier_plugin: { extension },
      ...(byHash && { hash_policy: [{ header: { header_name: "x-pick" } }] }),
    };
  }

  private composite(name: string): Config {
    const { random } = this;
    const members = Array.from({ length: 1 + random.below(4) }, () =>
      random.chance(0.3) ? random.pick(EMPTY) : random.pick(UPSTREAMS),
    );
    return {
      name,
      connect_timeout: "2s",
      lb_policy: "CLUSTER_PROVIDED",
      cluster_type: {
        name: "envoy.clusters.composite",
        typed_config: {
          "@type": `${TYPE}.clusters.composite.v3.ClusterConfig`,
          clusters: members.map((member) => ({ name: member })),
        },
      },
    };
  }

  private retryPolicy(): Config {
    const { random } = this;
    return {
      retry_on: random.pick(["5xx,reset,connect-failure", "5xx", "gateway-error,reset", "retriable-status-codes,5xx"]),
      ...(random.chance(0.4) && { retriable_status_codes: [random.pick([429, 404, 503])] }),
      num_retries: random.below(5),
      ...(random.chance(0.9) && { refresh_cluster_on_retry: true }),
      retry_back_off: { base_interval: "0.002s", max_interval: "0.004s" },
      ...(random.chance(0.15) && { retry_host_predicate: [PREVIOUS_HOSTS] }),
      ...(random.chance(0.15) && { host_selection_retry_max_attempts: 3 }),
      ...(random.chance(0.1) && { retry_priority: PREVIOUS_PRIORITIES }),
    };
  }

  private request(): RequestSpec {
    const { random } = this;
    const headers: NonNullable<RequestSpec["headers"]> = { "x-pick": `${random.below(100)}` };
    if (random.chance(0.5)) headers["x-tier"] = "gold";
    if (random.chance(0.25)) headers["host"] = random.pick(["other.test", "third.test"]);
    if (random.chance(0.4)) headers["x-override"] = random.pick(OVERRIDES);
    if (random.chance(0.15)) headers["x-envoy-attempt-count"] = `${1 + random.below(5)}`;
    if (random.chance(0.15)) headers["x-envoy-max-retries"] = `${random.below(5)}`;
    if (random.chance(0.1)) headers["x-envoy-retry-on"] = random.pick(["5xx", "reset", "retriable-4xx"]);
    if (random.chance(0.1)) headers[`x-attempt-router-cluster-${1 + random.below(4)}`] = random.pick(UPSTREAMS);
    if (random.chance(0.1)) headers["x-attempt-router-first"] = `${random.below(3)}`;
    return {
      path: `${random.pick(this.routes)}/x`,
      headers,
      ...(random.chance(0.3) && { body: "a body of some bytes" }),
      ...(random.chance(0.2) && { protocol: "http2" as const }),
    };
  }
}

/** What the Lua filter writes as override metadata, by the value of `x-override`: good ones, and each kind of bad one. */
const OVERRIDES = ["one", "two", "reversed", "own", "unknown", "bad", "mixed", "empty"];

const PREVIOUS_HOSTS = {
  name: "envoy.retry_host_predicates.previous_hosts",
  typed_config: { "@type": `${TYPE}.retry.host.previous_hosts.v3.PreviousHostsPredicate` },
};

const PREVIOUS_PRIORITIES = {
  name: "envoy.retry_priorities.previous_priorities",
  typed_config: {
    "@type": `${TYPE}.retry.priority.previous_priorities.v3.PreviousPrioritiesConfig`,
    update_frequency: 2,
  },
};

function subsets(policy: "NO_FALLBACK" | "ANY_ENDPOINT"): Config {
  return { lb_subset_config: { fallback_policy: policy, subset_selectors: [{ keys: ["color"] }] } };
}

function metadataMatch(color: string): Config {
  return { metadata_match: { filter_metadata: { "envoy.lb": { color } } } };
}

function memberFilters(filters: Config[], protocol: UpstreamProtocol): Config {
  return {
    typed_extension_protocol_options: {
      [HTTP_OPTIONS]: {
        "@type": `type.googleapis.com/${HTTP_OPTIONS}`,
        ...(protocol === "http1" && { explicit_http_config: { http_protocol_options: {} } }),
        http_filters: filters,
      },
    },
  };
}
