// The pairs of configurations that are compared under load, and where their requests have to go.

import { parse, stringify } from "yaml";
import { ROWS, type Ingredients } from "../rows.js";
import { bootstrap, compositeCluster, lowered, type Json } from "../scenarios.js";

/** One of the two sides. */
export interface Side {
  name: string;
  path: string;
  /** The bootstrap, whose listener is called `bench`. */
  config: string;
  /** Upstream requests of each cluster per request of the client; clusters that are not named get none. */
  shares: Readonly<Record<string, number>>;
}

export interface Pair {
  /** What the other is compared with. */
  base: Side;
  subject: Side;
}

type Shares = Side["shares"];

const CHAIN = "weighted 80/20";
const WEIGHTED_SHARES = { a1: 0.8, a2: 0.2 };
const RETRIED_SHARES = { a1: 1, b: 1 };

/** The first is a control: what it shows beside 1 is noise. */
export async function allPairs(ingredients: Ingredients): Promise<Pair[]> {
  const rows = (subject: string, base: string, shares: Shares) => pairOfRows(subject, base, shares, ingredients);
  const native = await sideOfRow(`native, ${CHAIN}`, WEIGHTED_SHARES, ingredients);
  return [
    { base: native, subject: { ...native, name: "the same once more" } },
    await rows(`lowered, ${CHAIN}`, `native, ${CHAIN}`, WEIGHTED_SHARES),
    await rows(`split, ${CHAIN}`, `native, ${CHAIN}`, WEIGHTED_SHARES),
    await rows("lowered, single clusters", "native, single clusters", { a1: 1 }),
    await rows("lowered, route without settings", "native, route without settings", { b: 1 }),
    await rows("lowered, single clusters, 1 retry", "native, single clusters, 1 retry", RETRIED_SHARES),
    await rows(`lowered, ${CHAIN}`, `Lua peer, ${CHAIN}`, WEIGHTED_SHARES),
    compositePair(ingredients),
  ];
}

async function pairOfRows(subject: string, base: string, shares: Shares, ingredients: Ingredients): Promise<Pair> {
  const [one, other] = [await sideOfRow(subject, shares, ingredients), await sideOfRow(base, shares, ingredients)];
  return { subject: one, base: other };
}

async function sideOfRow(name: string, shares: Shares, ingredients: Ingredients): Promise<Side> {
  const row = ROWS.find((one) => one.name === name);
  if (row === undefined) throw new Error(`no row is called "${name}"`);
  return { name, path: row.path, config: forLoad(await row.configure(ingredients)), shares };
}

// With hosts asked for as often as by default, which is part of the price here.
function compositePair({ upstreams, wasm }: Ingredients): Pair {
  const native = bootstrap({ cluster: "composite" }, upstreams, { clusters: [compositeCluster()] });
  const side = (name: string, config: string): Side => {
    return { name: `${name}, composite`, path: "/", config: forLoad(config), shares: { a1: 1 } };
  };
  return { base: side("native", native), subject: side("lowered", lowered(native, wasm)) };
}

/** Lets many requests be retried at once, of which Envoy by default allows three. */
function forLoad(config: string): string {
  const circuit_breakers = { thresholds: [{ max_retries: 10_000 }] };
  const { static_resources, ...rest } = parse(config) as { static_resources: { clusters: Json[] } };
  const clusters = static_resources.clusters.map((cluster) => ({ ...cluster, circuit_breakers }));
  return stringify({ ...rest, static_resources: { ...static_resources, clusters } }, { aliasDuplicateObjects: false });
}
