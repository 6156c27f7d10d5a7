import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { afterEach, describe, expect, test } from "vitest";
import { envoyVersions } from "../../tools/envoy/binary.js";
import { WASM } from "../support/lowering.js";
import { Upstreams } from "../support/upstreams.js";
import { GatewayClient } from "./client.js";
import { EnvoyGateway, type Manifest } from "./envoy-gateway.js";
import { backends, documented, gateway, httpRoute, resource, rule } from "./resources.js";
import { ServeProcess } from "./serve-process.js";

const { versions } = await envoyVersions();
const open: { stop(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.stop();
});

describe.each(versions)("Envoy %s", (version) => {
  test.each(["envoy-gateway.yaml", "envoy-gateway-two-chains.yaml"])(
    "the patches of %s serve their route, and no other, though a longer path comes first",
    async (file) => {
      const upstreams = await Upstreams.start({ a: 503, b: 200 });
      open.push({ stop: () => upstreams.close() });
      const server = await ServeProcess.start();
      open.push(server);
      const eg = await EnvoyGateway.start((folder) => [
        ...gateway(version, {}),
        ...backends({ "provider-a": upstreams.port("a"), "provider-b": upstreams.port("b") }),
        httpRoute("llm", [rule("messages", "/v1", "provider-a"), rule("count", "/v1/messages/count", "provider-b")]),
        ...documented(`manifests/${file}`).map((manifest) => withModule(manifest, server.http)),
        withoutKubernetes(folder),
      ]);
      open.push(eg);
      const client = new GatewayClient(upstreams);
      await client.until("/v1/messages", 200, "b");
      // Without the module, each request would go to provider-a first.
      expect(await client.outcomes("/v1/messages")).toEqual(new Set(["200 a b", "200 b"]));
      expect(await client.outcomes("/v1/messages/count")).toEqual(new Set(["200 b"]));
    },
  );
});

/** The module from a server of the test instead of a registry. */
function withModule(manifest: Manifest, http: string): Manifest {
  const sha256 = createHash("sha256").update(readFileSync(WASM)).digest("hex");
  return JSON.parse(JSON.stringify(manifest), (key, value: unknown) =>
    key === "code" ? { type: "HTTP", http: { url: `http://${http}/attempt-router.wasm`, sha256 } } : value,
  ) as Manifest;
}

/**
 * Where proxies fetch modules from Envoy Gateway: Kubernetes has a name for it, and mounts the certificates at a fixed place.
 * Without it, both are elsewhere.
 */
function withoutKubernetes(folder: string): Manifest {
  const file = (name: string): Manifest => ({ filename: `${folder}/config/certs/envoy/${name}` });
  const typed_config = {
    "@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext",
    common_tls_context: {
      tls_params: { tls_maximum_protocol_version: "TLSv1_3" },
      validation_context: { trusted_ca: file("ca.crt") },
      tls_certificates: [{ certificate_chain: file("tls.crt"), private_key: file("tls.key") }],
    },
  };
  const replaced = (operation: Manifest): Manifest => ({
    type: "type.googleapis.com/envoy.config.cluster.v3.Cluster",
    name: "wasm_cluster",
    operation: { op: "replace", ...operation },
  });
  const address = "..[?(@.address=='envoy-gateway.envoy-gateway-system.svc.cluster.local')]";
  return resource("gateway.envoyproxy.io/v1alpha1", "EnvoyPatchPolicy", "without-kubernetes", {
    targetRef: { group: "gateway.networking.k8s.io", kind: "Gateway", name: "eg" },
    type: "JSONPatch",
    jsonPatches: [
      replaced({ path: "/transport_socket", value: { name: "envoy.transport_sockets.tls", typed_config } }),
      replaced({ jsonPath: address, path: "/address", value: "127.0.0.1" }),
    ],
  });
}
