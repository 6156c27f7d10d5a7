import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { parse } from "yaml";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { localize } from "../../tools/envoy/localize.js";
import { envoyVersions } from "../../tools/envoy/binary.js";
import { EnvoyProcess } from "../../tools/envoy/process.js";

interface Service {
  image: string;
  command: string[];
  volumes: string[];
  ports?: string[];
  environment?: Record<string, string>;
  depends_on?: Record<string, { condition: string }>;
  healthcheck: { test: string[] };
}

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const GATEWAY = "gateway";
const text = readFileSync(`${ROOT}docker-compose.yml`, "utf8");
const { services } = parse(text, { merge: true }) as { services: Record<string, Service> };
const { oracle } = await envoyVersions();
const gateway = serviceOf(GATEWAY);
const providers = Object.keys(services).filter((name) => name !== GATEWAY);

describe("docker-compose.yml", () => {
  test("pins the Envoy that everything else is tested with", () => {
    const images = Object.values(services).map((service) => service.image);
    expect(new Set(images)).toEqual(new Set([`envoyproxy/envoy:v${oracle}`]));
  });

  test("starts the gateway after every provider, each under the host name that the config uses", () => {
    const dependencies = Object.entries(gateway.depends_on ?? {});
    expect(dependencies.map(([name]) => name)).toEqual(providers);
    expect(new Set(dependencies.map(([, { condition }]) => condition))).toEqual(new Set(["service_healthy"]));
    expect(endpoints(configOf(gateway))).toEqual(providers.map((name) => `${name}:8080`));
    for (const name of providers) expect(bound(configOf(serviceOf(name)))).toContain("0.0.0.0:8080");
  });

  test("publishes the listener on the loopback interface, and no admin interface", () => {
    expect(gateway.ports).toEqual(["127.0.0.1:10000:10000"]);
    expect(bound(configOf(gateway))).toEqual(["127.0.0.1:9901", "0.0.0.0:10000"]);
    for (const name of providers) expect(serviceOf(name).ports).toBeUndefined();
  });
});

describe("the same services as plain processes", () => {
  const running = new Map<string, EnvoyProcess>();

  beforeAll(async () => {
    const ports: Record<string, number> = {};
    for (const name of [...providers, GATEWAY]) {
      const service = serviceOf(name);
      const files = Object.fromEntries(mounts(service));
      const envoy = await EnvoyProcess.start(
        oracle,
        localize(configOf(service), { hosts: ports, files }),
        [],
        service.environment,
      );
      running.set(name, envoy);
      if (name !== GATEWAY) ports[name] = envoy.port("provider");
    }
  });

  afterAll(async () => {
    await Promise.all([...running.values()].map((envoy) => envoy.stop()));
  });

  test.each([
    [{}, 200, /^attempt 1 reached provider_a_model_[12]$/],
    [{ a: 429 }, 200, /^attempt 2 reached provider_b$/],
    [{ a: 503, provider_b: 500 }, 200, /^attempt 3 reached provider_c$/],
    [{ a: 429, provider_b: 429, provider_c: 503 }, 503, /^attempt 3 reached provider_c$/],
    [{ a: 400 }, 400, /^attempt 1 reached provider_a_model_[12]$/],
  ])("a request while %j", async (failing, status, body) => {
    const { a, ...others } = failing as Record<string, number>;
    const all = a === undefined ? others : { ...others, provider_a_model_1: a, provider_a_model_2: a };
    const headers = {
      "x-fail": Object.entries(all)
        .map((pair) => pair.join("="))
        .join(", "),
    };
    const url = `http://127.0.0.1:${envoyOf(GATEWAY).port("ingress")}/v1/messages`;
    const response = await fetch(url, { method: "POST", headers, body: "{}" });
    expect(response.status).toBe(status);
    expect((await response.text()).trim()).toMatch(body);
  });

  test.each(Object.keys(services))("the health check of %s holds", async (name) => {
    const [kind, command = "", ...args] = serviceOf(name).healthcheck.test;
    const port = envoyOf(name).admin.address.split(":")[1] ?? "";
    expect(kind).toBe("CMD");
    const here = args.map((argument) => argument.replace("/9901", `/${port}`));
    await expect(execa(command, here, { stdin: "ignore" })).resolves.toMatchObject({ exitCode: 0 });
    const elsewhere = args.map((argument) => argument.replace("/9901", "/1"));
    await expect(execa(command, elsewhere, { stdin: "ignore" })).rejects.toThrow();
  });

  function envoyOf(name: string): EnvoyProcess {
    const envoy = running.get(name);
    if (envoy === undefined) throw new Error(`${name} is not running`);
    return envoy;
  }
});

function serviceOf(name: string): Service {
  const service = services[name];
  if (service === undefined) throw new Error(`no service named ${name}`);
  return service;
}

/** Pairs of a path in the container and the file that is mounted there. */
function mounts(service: Service): [string, string][] {
  return service.volumes.map((volume) => {
    const [source = "", target = "", mode] = volume.split(":");
    if (mode !== "ro") throw new Error(`${volume} is not read-only`);
    return [target, resolve(ROOT, source)];
  });
}

/** The text of the config that a service's command names. */
function configOf(service: Service): string {
  const [program, flag, path = "", ...rest] = service.command;
  expect([program, flag, rest]).toEqual(["envoy", "-c", []]);
  const file = new Map(mounts(service)).get(path);
  if (file === undefined) throw new Error(`${path} is not mounted`);
  return readFileSync(file, "utf8");
}

/** Every `address:port_value` of a config. */
function addresses(config: string): string[] {
  const found: string[] = [];
  JSON.stringify(parse(config), (_, value: unknown) => {
    if (typeof value === "object" && value !== null && "port_value" in value && "address" in value) {
      found.push(`${String(value.address)}:${String(value.port_value)}`);
    }
    return value;
  });
  return found;
}

function bound(config: string): string[] {
  return addresses(config).filter((address) => /^\d/.test(address));
}

function endpoints(config: string): string[] {
  return addresses(config).filter((address) => !/^\d/.test(address));
}
