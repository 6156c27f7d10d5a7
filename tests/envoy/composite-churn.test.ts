// Composite clusters whose members come and go under load: by CDS, and by EDS.

import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { lower } from "../../cli/lower.js";
import { envoyVersions } from "../../tools/envoy/binary.js";
import { awaitRound } from "../support/availability.js";
import { assignment, staticCluster } from "../support/clusters.js";
import { bootstrapOf, compositeOf, routeTo } from "../support/composite-bootstrap.js";
import { WASM } from "../support/lowering.js";
import { ResourceFile } from "../support/resource-file.js";
import { Serving } from "../support/serving.js";
import type { Upstreams } from "../support/upstreams.js";

type Json = Record<string, unknown>;

const SPECS = { a: 200, b: 200 };
const HTTP = "type.googleapis.com/envoy.extensions.filters.http";
const TYPES = "type.googleapis.com/envoy.config";
/** Requests in a row that show where the load goes by now. */
const SETTLED = 20;
const CONNECTIONS = 4;

const { oracle, versions } = await envoyVersions();
let serving: Serving;
let clusters: ResourceFile;
let endpoints: ResourceFile;

beforeEach(() => {
  clusters = new ResourceFile();
  endpoints = new ResourceFile();
});

afterEach(async () => {
  await serving.stop();
  clusters.remove();
  endpoints.remove();
});

test("a member that comes and goes, natively: no request fails", async () => {
  await start(oracle, {}, (native) => native);
  expect(await comeAndGo("/cds/", removeCluster)).toEqual([]);
  expect(await comeAndGo("/eds/", emptyCluster)).toEqual([]);
});

describe.each(versions)("Envoy %s: a member that comes and goes", (version) => {
  test("on aggregates: no request fails", async () => {
    await start(version, { availability: "AGGREGATE" }, lowered);
    expect(await comeAndGo("/cds/", removeCluster)).toEqual([]);
    expect(await comeAndGo("/eds/", emptyCluster)).toEqual([]);
  });

  test("probed: requests fail only while the module does not know, and as for a missing host", async () => {
    await start(version, { availability: "PROBE" }, lowered);
    await awaitRound(serving.envoy.admin);
    const failures = [...(await comeAndGo("/cds/", removeCluster)), ...(await comeAndGo("/eds/", emptyCluster))];
    expect(failures.filter((failure) => !["503 ", "503 no healthy upstream"].includes(failure))).toEqual([]);
  });

  test("probed: a cluster from CDS is never sent what reaches its endpoints, whatever filters it has", async () => {
    await start(version, { availability: "PROBE", availability_interval_ms: 10 }, lowered);
    const { admin } = serving.envoy;
    await awaitRound(admin);
    for (const filters of [["header_mutation"], ["header_mutation", "rbac"], []]) {
      const before = await admin.stat("cluster_manager.cluster_modified");
      writeClusters([{ ...staticCluster("cds", [serving.upstreams.port("a")]), ...ownFilters(filters) }]);
      await admin.waitForStat("cluster_manager.cluster_modified", (count) => count > before);
      await awaitRound(admin);
      await awaitRound(admin);
    }
    expect(await admin.stat("wasmcustom.attempt_router.cluster_has_host")).toBeGreaterThan(0);
    expect(await admin.stat("cluster.cds.upstream_cx_total")).toBe(0);
    expect(await admin.stat("cluster.cds.upstream_rq_total")).toBe(0);
  });
});

/** Takes the first member away under load and brings it back, twice. Returns what the requests that failed got. */
async function comeAndGo(path: string, set: (there: boolean) => void): Promise<string[]> {
  const failures: string[] = [];
  let isOver = false;
  const served: (string | undefined)[] = [];
  const load = Array.from({ length: CONNECTIONS }, async () => {
    while (!isOver) {
      const { response, hops } = await serving.get(path);
      if (response.status !== 200) failures.push(`${response.status} ${response.body}`);
      served.push(hops[0]);
    }
  });
  const settlesOn = async (cluster: string) => {
    served.length = 0;
    while (served.length < SETTLED || served.slice(-SETTLED).some((hop) => hop !== cluster)) await serving.get(path);
  };
  try {
    await settlesOn("a");
    for (let i = 0; i < 2; i++) {
      set(false);
      await settlesOn("b");
      set(true);
      await settlesOn("a");
    }
  } finally {
    isOver = true;
    await Promise.all(load);
  }
  return failures;
}

function removeCluster(isThere: boolean): void {
  const port = serving.upstreams.port("a");
  writeClusters(isThere ? [staticCluster("cds", [port])] : []);
}

function emptyCluster(isThere: boolean): void {
  writeEndpoints(isThere ? [serving.upstreams.port("a")] : []);
}

/** Upstream filters of a cluster's own, in the place of those that refuse a question. */
function ownFilters(names: readonly string[]): Json {
  if (names.length === 0) return {};
  const options = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions";
  const types: Record<string, string> = { header_mutation: "HeaderMutation", rbac: "RBAC" };
  const http_filters = [
    ...names.map((name) => ({ name, typed_config: { "@type": `${HTTP}.${name}.v3.${types[name] ?? ""}` } })),
    { name: "codec", typed_config: { "@type": `${HTTP}.upstream_codec.v3.UpstreamCodec` } },
  ];
  const explicit_http_config = { http_protocol_options: {} };
  const typed = { "@type": `type.googleapis.com/${options}`, explicit_http_config, http_filters };
  return { typed_extension_protocol_options: { [options]: typed } };
}

function writeClusters(all: Json[]): void {
  clusters.write(stringify({ resources: all.map((one) => ({ "@type": `${TYPES}.cluster.v3.Cluster`, ...one })) }));
}

function writeEndpoints(ports: number[]): void {
  const type = `${TYPES}.endpoint.v3.ClusterLoadAssignment`;
  endpoints.write(stringify({ resources: [{ "@type": type, ...assignment("eds", ports) }] }));
}

async function start(version: string, settings: Json, form: (native: string) => string): Promise<void> {
  serving = await Serving.start(version, SPECS, (upstreams) => {
    writeClusters([staticCluster("cds", [upstreams.port("a")])]);
    writeEndpoints([upstreams.port("a")]);
    return form(native(upstreams, settings));
  });
}

function lowered(text: string): string {
  return lower(text, { file: "native.yaml", wasm: WASM }).text;
}

function native(upstreams: Upstreams, settings: Json): string {
  const members = ["cds", "eds"];
  const routes = members.map((name) => routeTo(`${name}-tiers`, `/${name}/`, settings));
  const eds = { name: "eds", type: "EDS", connect_timeout: "1s", eds_cluster_config: { eds_config: endpoints.source } };
  const all = [
    ...members.map((name) => compositeOf(`${name}-tiers`, [name, "b"])),
    eds,
    staticCluster("b", [upstreams.port("b")]),
  ];
  const file = parse(bootstrapOf(routes, all)) as Json;
  return stringify({ ...file, dynamic_resources: { cds_config: clusters.source } }, { aliasDuplicateObjects: false });
}
