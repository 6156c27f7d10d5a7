// What lowers, but not every Envoy reads, or lowered configuration does not follow.

import { expect, test } from "vitest";
import { lower } from "../../cli/lower.js";
import { EnvoyProcess, EnvoyStartError } from "../../tools/envoy/process.js";
import type { Config } from "../support/case.js";
import { nativeBootstrap } from "../support/bootstrap.js";
import { priorityGroups, group } from "../support/config.js";
import { WASM } from "../support/lowering.js";
import { Upstreams } from "../support/upstreams.js";

const TYPE = "type.googleapis.com/envoy.extensions";

async function native(more: { bootstrap?: Config; http_filters?: Config[]; extra_clusters?: Config[]; route: Config }) {
  const upstreams = await Upstreams.start({ a: 200, b: 200 });
  await upstreams.close();
  const { route, ...rest } = more;
  const routes = [{ match: { prefix: "/" }, route }];
  const route_config = { virtual_hosts: [{ name: "v", domains: ["*"], routes }] };
  return nativeBootstrap(
    { file: "", name: "", about: "", upstreams: upstreams.specs, requests: [], route_config, ...rest },
    upstreams,
  );
}

const warnings = (text: string): string[] => lower(text, { wasm: WASM }).warnings.map(({ path }) => path);

test("runtime layers that only the proxy reads, where composite clusters are lowered", async () => {
  const layers = [
    { name: "static", static_layer: {} },
    { name: "later", rtds_layer: { name: "runtime", rtds_config: { ads: {} } } },
    { name: "files", disk_layer: { symlink_root: "/srv/runtime" } },
    { name: "admin", admin_layer: {} },
  ];
  const composite = {
    name: "walk",
    connect_timeout: "1s",
    lb_policy: "CLUSTER_PROVIDED",
    cluster_type: {
      name: "envoy.clusters.composite",
      typed_config: {
        "@type": `${TYPE}.clusters.composite.v3.ClusterConfig`,
        clusters: [{ name: "a" }, { name: "b" }],
      },
    },
  };
  const bootstrap = { layered_runtime: { layers } };
  const composites = await native({ bootstrap, extra_clusters: [composite], route: { cluster: "walk" } });
  expect(warnings(composites)).toEqual([
    "layered_runtime.layers[1].rtds_layer",
    "layered_runtime.layers[2].disk_layer",
  ]);
  expect(warnings(await native({ bootstrap, route: priorityGroups([group("a")]) }))).toEqual([]);
});

test("a typed override in the file, which Envoy before 1.40 refuses", async () => {
  const set = (value: Config): Config => ({
    name: "set",
    typed_config: {
      "@type": `${TYPE}.filters.http.set_metadata.v3.Config`,
      metadata: [{ metadata_namespace: "app", ...value }],
    },
  });
  const override = { priority_groups: [group("b")] };
  const type = `${TYPE}.router.cluster_specifiers.priority_group.v3.PriorityGroupsOverride`;
  const route = priorityGroups([group("a")], { override_metadata_namespace: "app" });
  const typed = await native({ http_filters: [set({ typed_value: { "@type": type, ...override } })], route });
  const [place] = warnings(typed);
  expect(place).toMatch(/http_filters\[0\]\.typed_config\.metadata\[0\]\.typed_value$/);
  expect(warnings(await native({ http_filters: [set({ value: override })], route }))).toEqual([]);
  const start = EnvoyProcess.start("1.39.3", lower(typed, { wasm: WASM }).text);
  await expect(start).rejects.toThrow(EnvoyStartError);
  await expect(start).rejects.toThrow("PriorityGroupsOverride");
});
