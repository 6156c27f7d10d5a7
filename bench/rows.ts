// What is measured: each row a configuration, and the row that it is compared with.

import { luaPeer, rustPeer, rustPeerSingle, withoutModule } from "./peer-scenarios.js";
import {
  bootstrap,
  compositeCluster,
  EARLIER,
  FAILS,
  foreignMetadata,
  HOLDS,
  lowered,
  noopFilter,
  priorityGroups,
  SINGLE,
  timeoutOverrides,
  WEIGHTED,
  type Failing,
  type Parts,
  type Upstreams,
} from "./scenarios.js";

/** What the configurations refer to: ports, and paths of modules. Peers are built when they are first asked for. */
export interface Ingredients {
  upstreams: Upstreams;
  wasm: string;
  noop: () => Promise<string>;
  rust: () => Promise<string>;
}

type Configure = (ingredients: Ingredients) => string | Promise<string>;

export interface Row {
  name: string;
  /** The name of the row that it is compared with. */
  against?: string;
  /** The path that is asked for. */
  path: string;
  /** A statistic that must have counted something before requests are counted. */
  awaits?: string;
  /** The bootstrap. */
  configure: Configure;
}

const PLAIN = { cluster: "a1" };
const COMPOSITE = { cluster: "composite" };
const RETRIES: { suffix: string; fails: Failing }[] = [
  { suffix: "", fails: "" },
  { suffix: ", 1 retry", fails: "a" },
  { suffix: ", 2 retries", fails: "ab" },
];
const CHAINS = [
  { chain: "weighted 80/20", first: WEIGHTED, script: "pick" },
  { chain: "single clusters", first: SINGLE, script: "single" },
] as const;

/** Every row, after the one that it is compared with. */
export const ROWS: Row[] = [
  row("plain cluster", undefined, native(PLAIN)),
  row("no-op module in one chain", "plain cluster", noop(false)),
  row("no-op module in two chains", "plain cluster", noop(true)),
  row("native, route without settings", undefined, native(priorityGroups(WEIGHTED)), "/plain"),
  row(
    "lowered, route without settings",
    "native, route without settings",
    loweredOf(priorityGroups(WEIGHTED)),
    "/plain",
  ),
  ...CHAINS.flatMap(({ chain, first, script }) => {
    const action = priorityGroups(first);
    return RETRIES.flatMap(({ suffix, fails }) => {
      const oracle = `native, ${chain}${suffix}`;
      return [
        row(oracle, undefined, native(action, { fails })),
        row(`lowered, ${chain}${suffix}`, oracle, loweredOf(action, { fails })),
        row(`Rust peer, ${chain}${suffix}`, oracle, rust(first, { fails })),
        row(`Lua peer, ${chain}${suffix}`, oracle, ({ upstreams }) => luaPeer(script, upstreams, { fails })),
      ];
    });
  }),
  ...RETRIES.map(({ suffix, fails }) =>
    row(`split, weighted 80/20${suffix}`, `native, weighted 80/20${suffix}`, split({ fails })),
  ),
  row("slots without module, weighted 80/20", "native, weighted 80/20", slots(priorityGroups(WEIGHTED))),
  ...sharedRows(),
  ...RETRIES.flatMap(({ suffix, fails }) => {
    const parts = { fails, clusters: [compositeCluster()] };
    const oracle = `native, composite${suffix}`;
    // Asking for hosts goes by the clock: it must happen before requests are counted, and hardly while they are.
    const rarely = { availability: "PROBE", availability_interval_ms: 20_000 };
    const asked = { awaits: "cluster.attempt_router_probe.upstream_rq_total" };
    const never = { skip_clusters_without_hosts: false };
    return [
      row(oracle, undefined, native(COMPOSITE, parts)),
      row(`lowered, composite${suffix}`, oracle, loweredOf(COMPOSITE, parts)),
      { ...row(`probed, composite${suffix}`, oracle, loweredOf(COMPOSITE, { ...parts, settings: rarely })), ...asked },
      row(`lowered, composite, no host skipped${suffix}`, oracle, loweredOf(COMPOSITE, { ...parts, settings: never })),
    ];
  }),
  ...[0, 1, 10, 100].flatMap((kilobytes) => {
    const action = priorityGroups(WEIGHTED, { override_metadata_namespace: "override" });
    const parts = { filters: [foreignMetadata(kilobytes * 1024)] };
    const oracle = `native, override beside ${kilobytes} KB`;
    return [
      row(oracle, undefined, native(action, parts)),
      row(`lowered, override beside ${kilobytes} KB`, oracle, loweredOf(action, parts)),
    ];
  }),
  ...Object.entries({ fail: FAILS, hold: HOLDS }).map(([how, when]) => {
    const parts = { specifiers: timeoutOverrides(10, when) };
    return row(`lowered, ten specifiers that ${how}`, "plain cluster", loweredOf(PLAIN, parts));
  }),
  // The answer is text, which goes to the client with its first byte.
  ...RETRIES.slice(0, 2).map(({ suffix, fails }) => {
    const parts = { fails, settings: { hold_response: { errors: [{ event: "error", status: 529 }] } } };
    return row(
      `held, single clusters${suffix}`,
      `native, single clusters${suffix}`,
      loweredOf(priorityGroups(SINGLE), parts),
    );
  }),
  ...RETRIES.slice(0, 2).map(({ suffix, fails }) =>
    row(
      `skipping, weighted 80/20${suffix}`,
      `lowered, weighted 80/20${suffix}`,
      loweredOf(priorityGroups(WEIGHTED), { fails, settings: { skip_clusters_without_hosts: true } }),
    ),
  ),
  // No answer is a 429: what cooling down costs is that it is looked for.
  ...RETRIES.slice(0, 2).map(({ suffix, fails }) =>
    row(
      `cooling, weighted 80/20${suffix}`,
      `lowered, weighted 80/20${suffix}`,
      loweredOf(priorityGroups(WEIGHTED), { fails, settings: { cool_down: { statuses: [429] } } }),
    ),
  ),
  row(
    "held elsewhere, route without settings",
    "native, route without settings",
    loweredOf(priorityGroups(SINGLE), { settings: { hold_response: {} } }),
    "/plain",
  ),
];

// An earlier filter keeps `lower` from writing a filter for each chain.
function sharedRows(): Row[] {
  const parts = { filters: [EARLIER] };
  const names = (who: string, what: string) => `${who}, ${what}, after a filter`;
  const pair = (what: string, first: typeof WEIGHTED, path?: string) => {
    const [oracle, action] = [names("native", what), priorityGroups(first)];
    return [
      row(oracle, undefined, native(action, parts), path),
      row(names("lowered", what), oracle, loweredOf(action, parts), path),
    ];
  };
  return [
    ...pair("route without settings", WEIGHTED, "/plain"),
    ...pair("weighted 80/20", WEIGHTED),
    row(names("split", "weighted 80/20"), names("native", "weighted 80/20"), split(parts)),
    row(names("Rust peer", "weighted 80/20"), names("native", "weighted 80/20"), rust(WEIGHTED, parts)),
    ...pair("single clusters", SINGLE),
  ];
}

function row(name: string, against: string | undefined, configure: Configure, path = "/"): Row {
  return { name, ...(against === undefined ? {} : { against }), configure, path };
}

function native(action: object, parts?: Parts): Configure {
  return ({ upstreams }) => bootstrap({ ...action }, upstreams, parts);
}

function loweredOf(action: object, parts?: Parts): Configure {
  return ({ upstreams, wasm }) => lowered(bootstrap({ ...action }, upstreams, parts), wasm);
}

/** The weighted chain by `lower --split-weights`: routes instead of the module. */
function split(parts: Parts): Configure {
  const options = { splitWeights: true };
  return ({ upstreams, wasm }) => lowered(bootstrap(priorityGroups(WEIGHTED), upstreams, parts), wasm, options);
}

function slots(action: object): Configure {
  return ({ upstreams, wasm }) => withoutModule(lowered(bootstrap({ ...action }, upstreams), wasm));
}

function rust(first: typeof WEIGHTED, parts?: Parts): Configure {
  // What `lower` writes has no module in whose place the peer could stand.
  if (first.length === 1) return async ({ upstreams, rust }) => rustPeerSingle(await rust(), upstreams, parts);
  const ours = loweredOf(priorityGroups(first), parts);
  return async (ingredients) => rustPeer(await ours(ingredients), await ingredients.rust(), first[0]?.weight ?? 0);
}

function noop(upstream: boolean): Configure {
  return async ({ upstreams, noop }) => {
    const filters = [noopFilter(await noop())];
    return bootstrap(PLAIN, upstreams, { filters, ...(upstream ? { upstreamFilters: filters } : {}) });
  };
}
