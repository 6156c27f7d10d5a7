// Composite clusters whose routes come by RDS and whose definitions come by CDS, each lowered by itself.

import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { lower } from "../../cli/lower.js";
import { envoyVersions } from "../../tools/envoy/binary.js";
import { ANY_PORT } from "../../tools/envoy/process.js";
import { staticCluster } from "../support/clusters.js";
import { compositeOf, routeTo } from "../support/composite-bootstrap.js";
import { WASM } from "../support/lowering.js";
import { ResourceFile } from "../support/resource-file.js";
import { Serving } from "../support/serving.js";
import type { Upstreams } from "../support/upstreams.js";

type Json = Record<string, unknown>;

const SPECS = { a: 503, b: 200, c: 200 };
const TYPES = "type.googleapis.com/envoy.config";
const FILTERS = "type.googleapis.com/envoy.extensions.filters";
const LISTS = { walk: ["a", "b", "c"], skip: ["gone", "empty", "c"], nested: ["walk", "skip"], end: ["a"] };

const { oracle, versions } = await envoyVersions();
let serving: Serving | undefined;
let routes: ResourceFile;
let clusters: ResourceFile;

beforeEach(() => {
  routes = new ResourceFile();
  clusters = new ResourceFile();
});

afterEach(async () => {
  await serving?.stop();
  routes.remove();
  clusters.remove();
});

describe.each(versions)("Envoy %s: routes and clusters that are lowered apart", (version) => {
  test("go where native ones go", async () => {
    const native = await outcomes(oracle, (text) => text, {});
    await serving?.stop();
    expect(native).toEqual({ walk: "200 a b", skip: "200 c", nested: "200 a c", end: "503 a" });
    expect(await outcomes(version, lowered, { availability: "AGGREGATE" })).toEqual(native);
  });
});

/** One part of the configuration, with the clusters as the file of composite clusters. */
function lowered(text: string, definitions: string): string {
  const composites = { file: "clusters.yaml", text: definitions };
  return lower(text, { file: "native.yaml", wasm: WASM, rds: true, composites }).text;
}

/** By composite cluster, the status of a request and the upstreams that saw it. */
async function outcomes(
  version: string,
  form: (text: string, definitions: string) => string,
  settings: Json,
): Promise<Record<string, string>> {
  serving = await Serving.start(version, SPECS, (upstreams) => {
    const definitions = cdsOf(upstreams);
    clusters.write(form(definitions, definitions));
    routes.write(form(rdsOf(settings), definitions));
    return form(bootstrap(), definitions);
  });
  const all: Record<string, string> = {};
  for (const name of Object.keys(LISTS)) {
    const { response, hops } = await serving.get(`/${name}/`);
    all[name] = [response.status, ...hops].join(" ");
  }
  return all;
}

function cdsOf(upstreams: Upstreams): string {
  const all = [
    ...(["a", "b", "c"] as const).map((name) => staticCluster(name, [upstreams.port(name)])),
    staticCluster("empty", []),
    ...Object.entries(LISTS).map(([name, members]) => compositeOf(name, members)),
  ];
  return resources(all, `${TYPES}.cluster.v3.Cluster`);
}

function rdsOf(settings: Json): string {
  const all = Object.keys(LISTS).map((name) => routeTo(name, `/${name}/`, settings));
  const config = { name: "routes", virtual_hosts: [{ name: "all", domains: ["*"], routes: all }] };
  return resources([config], `${TYPES}.route.v3.RouteConfiguration`);
}

function resources(all: Json[], type: string): string {
  const typed = all.map((one) => ({ "@type": type, ...one }));
  return stringify({ resources: typed }, { aliasDuplicateObjects: false });
}

function bootstrap(): string {
  const manager = {
    "@type": `${FILTERS}.network.http_connection_manager.v3.HttpConnectionManager`,
    stat_prefix: "ingress",
    rds: { route_config_name: "routes", config_source: routes.source },
    http_filters: [{ name: "router", typed_config: { "@type": `${FILTERS}.http.router.v3.Router` } }],
  };
  const filters = [{ name: "manager", typed_config: manager }];
  const file = {
    node: { id: "test", cluster: "test" },
    admin: { address: ANY_PORT },
    dynamic_resources: { cds_config: clusters.source },
    static_resources: { listeners: [{ name: "ingress", address: ANY_PORT, filter_chains: [{ filters }] }] },
  };
  return stringify(file, { aliasDuplicateObjects: false });
}
