import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseAllDocuments } from "yaml";
import { describe, expect, test } from "vitest";
import { envoyVersions } from "../../tools/envoy/binary.js";
import { GATEWAY } from "../../tools/manifests/envoy-gateway.js";
import { manifestFiles } from "../../tools/manifests/files.js";
import { ISTIO, RBAC_TYPE } from "../../tools/manifests/istio.js";
import { lowerResources, nativeResources, SERVICES, type Message, type Names } from "../../tools/manifests/native.js";
import { ANY_PORT } from "../../tools/envoy/process.js";
import { WASM } from "../support/lowering.js";
import { Serving } from "../support/serving.js";
import type { Upstreams } from "../support/upstreams.js";
import { applyEnvoyFilter, applyPolicies, type Generated } from "./apply.js";

const FOLDER = fileURLToPath(new URL("../../docs/control-planes/manifests/", import.meta.url));
const REQUESTS = 30;
const { versions } = await envoyVersions();

test("the manifests are as `npm run generate:manifests` writes them", () => {
  const files = readdirSync(FOLDER).map((name) => [name, readFileSync(FOLDER + name, "utf8")]);
  expect(Object.fromEntries(files)).toEqual(manifestFiles());
});

/** What a control plane notes for itself, and no patch may lose. */
const OWN_METADATA = { gateway: { resource: "llm" } };

/** A control plane's own listener and routes: what its users' routes become without any patch. */
function generatedBy(names: Names): Generated {
  const [listener, routes] = nativeResources(names);
  const [virtualHost] = routes["virtual_hosts"] as { routes: Message[] }[];
  const plain = (name: string, prefix: string): Message => ({
    match: { prefix },
    name,
    metadata: { filter_metadata: OWN_METADATA },
    route: { cluster: names.cluster("provider-b") },
  });
  // A longer path comes first, whatever the order of the user's rules.
  if (virtualHost !== undefined)
    virtualHost.routes = [plain("longer", "/v1/messages/count"), plain(names.route, "/v1")];
  return [listener, routes];
}

function documents(name: string): Message[] {
  return parseAllDocuments(readFileSync(FOLDER + name, "utf8")).map((document) => document.toJS() as Message);
}

const PLANES: { file: string; names: Names; apply: (generated: Generated) => Generated }[] = [
  ...["istio.yaml", "istio-two-chains.yaml"].map((file) => ({
    file,
    names: ISTIO,
    apply: (generated: Generated) => applyEnvoyFilter(generated, documents(file)[0] ?? {}, WASM),
  })),
  ...["envoy-gateway.yaml", "envoy-gateway-two-chains.yaml"].map((file) => ({
    file,
    names: GATEWAY,
    apply: (generated: Generated) => applyPolicies(generated, documents(file), WASM),
  })),
];

describe.each(versions)("a module that Istio's agent cannot pull, on Envoy %s", (version) => {
  test.each([
    { file: "istio.yaml", answer: [200, ["provider-a", "provider-b"]] },
    // One slot for all attempts: nobody moves it on. Without the type in the list the answer would be 500.
    { file: "istio-two-chains.yaml", answer: [503, ["provider-a", "provider-a"]] },
  ])("$file still sends requests to the first provider", async ({ file, answer }) => {
    const folder = mkdtempSync(join(tmpdir(), "attempt-router-ecds-"));
    // The agent answers for the extension config with a filter of another type.
    const fallback = (name: unknown): Message => {
      const typed_config = { "@type": RBAC_TYPE };
      const resource = { "@type": "type.googleapis.com/envoy.config.core.v3.TypedExtensionConfig", name, typed_config };
      writeFileSync(join(folder, String(name)), JSON.stringify({ version_info: "1", resources: [resource] }));
      return { path_config_source: { path: join(folder, String(name)) }, resource_api_version: "V3" };
    };
    const generated = applyEnvoyFilter(generatedBy(ISTIO), documents(file)[0] ?? {}, fallback);
    const serving = await Serving.start(version, { "provider-a": 503, "provider-b": 200 }, (upstreams) =>
      bootstrap(generated, ISTIO, upstreams, { id: "test", cluster: "test" }),
    );
    try {
      for (let i = 0; i < 5; i++) {
        const { response, hops } = await serving.get("/v1/messages");
        expect([response.status, hops]).toEqual(answer);
      }
    } finally {
      await serving.stop();
      rmSync(folder, { recursive: true });
    }
  });
});

describe.each(PLANES)("$file", ({ file, names, apply }) => {
  const attemptHeader = !file.includes("two-chains");

  test("brings the gateway's routes to what lower makes of them", () => {
    const [, routes] = apply(generatedBy(names));
    const [found] = routes["virtual_hosts"] as (Message & { routes: Message[] })[];
    const wanted = lowerResources(names, attemptHeader).virtualHost;
    expect(found?.["include_request_attempt_count"]).toBe(wanted["include_request_attempt_count"]);
    for (const route of wanted.routes) {
      const { metadata, route: action } = found?.routes.find(({ name }) => name === route["name"]) ?? {};
      expect(action).toEqual(route["route"]);
      expect(metadata).toMatchObject(route["metadata"] as Message);
    }
    // Envoy Gateway's own route is changed, and keeps what else is noted there. Istio's gets others in front of it.
    if (names === GATEWAY) expect(found?.routes.at(-1)?.["metadata"]).toMatchObject({ filter_metadata: OWN_METADATA });
    const [before] = generatedBy(names)[1]["virtual_hosts"] as { routes: Message[] }[];
    const other = found?.routes.find(({ name }) => name === "longer");
    expect(other).toMatchObject(before?.routes[0] ?? {});
  });

  test.each(versions)("serves on Envoy %s", async (version) => {
    const generated = apply(generatedBy(names));
    const serving = await Serving.start(version, { "provider-a": 503, "provider-b": 200 }, (upstreams) =>
      bootstrap(generated, names, upstreams),
    );
    try {
      const chains = new Set<string>();
      for (let i = 0; i < REQUESTS; i++) {
        const { response, hops } = await serving.get("/v1/messages");
        expect(response.status).toBe(200);
        chains.add(hops.join(" "));
      }
      // By the static chain alone, every request would go to provider-a first.
      expect(chains).toEqual(new Set(["provider-a provider-b", "provider-b"]));
    } finally {
      await serving.stop();
    }
  });
});

/** A bootstrap with what came over discovery services written out. */
function bootstrap([listener, routes]: Generated, names: Names, upstreams: Upstreams, node?: Message): string {
  const route_config = { ...routes, "@type": undefined };
  const inlined = JSON.parse(JSON.stringify(listener), (_key, value: Message | null) =>
    value !== null && "rds" in Object(value) ? { ...value, rds: undefined, route_config } : value,
  ) as Message;
  const clusters = SERVICES.map((service) => {
    const name = names.cluster(service);
    const address = { socket_address: { address: "127.0.0.1", port_value: upstreams.port(service) } };
    return {
      name,
      connect_timeout: "5s",
      load_assignment: { cluster_name: name, endpoints: [{ lb_endpoints: [{ endpoint: { address } }] }] },
    };
  });
  const one = { ...inlined, "@type": undefined, name: "ingress", address: ANY_PORT };
  return JSON.stringify({ node, admin: { address: ANY_PORT }, static_resources: { listeners: [one], clusters } });
}
