import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import type { LowerOptions } from "../../cli/lower.js";
import type { ClientProtocol } from "./client.js";
import type { UpstreamSpec } from "./upstreams.js";

/** Envoy configuration as it stands in a case file. */
export type Config = Record<string, unknown>;

type Scalar = string | number | boolean;

/** A listener with one HTTP connection manager. */
export interface ListenerSpec {
  name?: string;
  http_filters?: Config[];
  /** Fields of the Router filter. */
  router?: Config;
  /** Further fields of the HttpConnectionManager. */
  hcm?: Config;
  /** Absent where `hcm` has another source of routes. */
  route_config?: Config;
}

export interface RequestSpec {
  listener?: string;
  protocol?: ClientProtocol;
  method?: string;
  path?: string;
  /** A list is sent as several header lines. */
  headers?: Record<string, Scalar | null | (Scalar | null)[]>;
  body?: string;
  /** Instead of `body`: that many bytes. */
  body_size?: number;
  repeat?: number;
  /** `set`: with `repeat`, which outcomes occur is compared, not in which order: for the internal random pick. */
  compare?: "set";
  /** Wait until the upstreams saw this many requests (mirrored and hedged ones may be under way when the response is there). */
  await_hops?: number;
}

/** What is recorded of a request besides status, `x-served-by` and hops. */
export interface ObserveSpec {
  flags?: boolean;
  details?: boolean;
  /** `%UPSTREAM_CLUSTER%`. */
  cluster?: boolean;
  body?: boolean;
  response_headers?: string[];
  /** Headers and pseudo headers as each hop received them. */
  upstream_headers?: string[];
  /** Statistics, read once after the last request. */
  stats?: string[];
}

/** What became of one request, or of each one that `repeat` sent. */
export interface Outcome {
  status: number | null;
  served_by: string | null;
  /** The upstreams that saw the request, in order. */
  hops: string[];
  mirrored?: string[];
  error?: string;
  grpc_status?: string;
  body?: string;
  flags?: string[];
  details?: string[];
  cluster?: string[];
  response_headers?: Record<string, string | null>;
  upstream_headers?: Record<string, string | null>[];
}

/** `each`: repeated requests that differed, in order. `any_of`: the distinct outcomes of a request compared as a set. */
export type Expectation = Outcome | { each: Outcome[] } | { any_of: Outcome[] };

/** One case file; tests/conformance/README.md describes the fields. */
export interface Case {
  file: string;
  name: string;
  about: string;
  versions?: string[];
  /** Options of `lower`. */
  lower?: Pick<LowerOptions, "splitWeights">;
  /** `lower` refuses this configuration, which is legal, with a message that holds this text. */
  lowering_error?: string;
  /** Why lowered behaviour differs from native; `lowered_expect` is what it is instead, written by hand. */
  deviation?: string;
  lowered_expect?: Expectation[];
  upstreams: Record<string, UpstreamSpec>;
  clusters?: Record<string, unknown[]>;
  extra_clusters?: Config[];
  cluster_settings?: Record<string, Config>;
  listeners?: ListenerSpec[];
  http_filters?: Config[];
  router?: Config;
  hcm?: Config;
  route_config?: Config;
  bootstrap?: Config;
  observe?: ObserveSpec;
  requests: RequestSpec[];
  /** `rejected`: Envoy does not start with this configuration, and `lower` refuses it. */
  expect?: Expectation[] | "rejected";
  expect_stats?: Record<string, number>;
}

const CASES = fileURLToPath(new URL("../conformance/cases/", import.meta.url));

/** The cases that the comma-separated names in $CASE select, by name; each of these matches as a prefix. */
export function loadCases(): Case[] {
  const wanted = (process.env["CASE"] ?? "").split(",").filter((name) => name !== "");
  const isWanted = (name: string) => wanted.length === 0 || wanted.some((prefix) => name.startsWith(prefix));
  return [...caseFiles()].filter(([name]) => isWanted(name)).map(([, file]) => loadCase(file));
}

/** The absolute path of every case file by the case's name, sorted by name. @throws where two cases share a name. */
export function caseFiles(folder = CASES): Map<string, string> {
  const files = new Map<string, string>();
  const paths = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".yaml"));
  for (const path of paths) {
    const name = basename(path, ".yaml");
    if (files.has(name)) throw new Error(`two conformance cases are named ${name}`);
    files.set(name, join(folder, path));
  }
  return new Map([...files].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The case of this name. */
export function caseNamed(name: string): Case {
  const file = caseFiles().get(name);
  if (file === undefined) throw new Error(`no conformance case is named ${name}`);
  return loadCase(file);
}

/** Reads one case file. Integers that a double cannot hold become strings of their digits. */
export function loadCase(file: string): Case {
  const content = parse(readFileSync(file, "utf8"), { intAsBigInt: true }) as unknown;
  return { name: basename(file, ".yaml"), about: "", requests: [], ...(plain(content) as Partial<Case>), file } as Case;
}

/** The listeners of a case: its `listeners`, or the single one its top-level fields describe. */
export function listenersOf(test: Case): (ListenerSpec & { name: string })[] {
  const { http_filters, router, hcm, route_config } = test;
  const single = { http_filters, router, hcm, route_config } as ListenerSpec;
  return (test.listeners ?? [single]).map((listener, i) => ({
    ...listener,
    name: listener.name ?? `ingress${i || ""}`,
  }));
}

function plain(value: unknown): unknown {
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : value.toString();
  if (Array.isArray(value)) return value.map(plain);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, plain(field)]));
}
