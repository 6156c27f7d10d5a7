// Each golden output, inside a bootstrap, as Envoy validates it.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { execa } from "execa";
import { afterAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { builtModulePath } from "../../cli/module-path.js";
import { envoyVersions, findEnvoy } from "../../tools/envoy/binary.js";
import { fixtures, lowerFixture, WASM_IN_GOLDEN } from "./support.js";

const { versions } = await envoyVersions();
const scratch = mkdtempSync(join(tmpdir(), "attempt-router-lower-"));
afterAll(() => rmSync(scratch, { recursive: true }));

describe.each(fixtures("lower"))("$name", (fixture) => {
  test.each(versions)("is accepted by Envoy %s", async (version) => {
    const { stdout } = await lowerFixture(fixture);
    await validate(
      version,
      bootstrapOf(stdout.replaceAll(dirname(WASM_IN_GOLDEN), dirname(builtModulePath()))),
      fixture.name,
    );
  });
});

type Config = Record<string, unknown>;

/** Resources are validated inside a bootstrap, as Envoy has no mode for them alone. */
function bootstrapOf(text: string): string {
  const document = parse(text, { logLevel: "error", uniqueKeys: false }) as Config;
  if ("static_resources" in document || "dynamic_resources" in document) return text;
  const wrapped = "resources" in document ? (document["resources"] as Config[]) : [document];
  const all = wrapped.map((one) => ("resource" in one ? (one["resource"] as Config) : one));
  const configs = all.filter((one) => "virtual_hosts" in one);
  const listeners = all.filter((one) => "filter_chains" in one || "internal_listener" in one);
  const clusters = all.filter((one) => "connect_timeout" in one);
  const inlined = listeners.map((listener) => withInlineRoutes(listener, configs));
  const loose = listeners.length > 0 ? [] : configs.map(listenerFor);
  const type = "type.googleapis.com/envoy.extensions.bootstrap.internal_listener.v3.InternalListener";
  return JSON.stringify({
    bootstrap_extensions: [{ name: "envoy.bootstrap.internal_listener", typed_config: { "@type": type } }],
    static_resources: { listeners: [...inlined, ...loose].map(untyped), clusters: clusters.map(untyped) },
  });
}

function withInlineRoutes(listener: Config, configs: readonly Config[]): unknown {
  return JSON.parse(JSON.stringify(listener), (_, value: Config | null) => {
    const name = (value?.["rds"] as Config | undefined)?.["route_config_name"];
    const config = configs.find((one) => one["name"] === name);
    return config === undefined ? value : { ...value, rds: undefined, route_config: inline(config) };
  });
}

function listenerFor(config: Config, index: number): Config {
  const type = "type.googleapis.com/envoy.extensions.filters.";
  const manager = {
    "@type": `${type}network.http_connection_manager.v3.HttpConnectionManager`,
    stat_prefix: "routes",
    route_config: inline(config),
    http_filters: [{ name: "router", typed_config: { "@type": `${type}http.router.v3.Router` } }],
  };
  const address = { socket_address: { address: "127.0.0.1", port_value: 0 } };
  return { name: `l${index}`, address, filter_chains: [{ filters: [{ name: "manager", typed_config: manager }] }] };
}

function inline(config: Config): Config {
  return { ...(untyped(config) as Config), validate_clusters: false };
}

function untyped(message: unknown): unknown {
  return { ...(message as Config), "@type": undefined };
}

async function validate(version: string, text: string, name: string): Promise<void> {
  const file = join(scratch, `${version}-${name}`);
  writeFileSync(file, text);
  const args = ["--mode", "validate", "-l", "error", "--service-node", "test", "--service-cluster", "test", "-c", file];
  const result = await execa(await findEnvoy(version), args, { reject: false, all: true });
  expect(result.all).toContain("OK");
  expect(result.exitCode).toBe(0);
}
