import { describe, expect, test, vi } from "vitest";
import { WasmHost } from "../../cli/host/index.js";
import { InputError, lower, Lowerer, type ConfigObject, type LowerOptions } from "../../cli/index.js";
import { moduleValidator } from "../../cli/lower/module-check.js";
import { builtModulePath, MODULE_FILES } from "../../cli/module-path.js";
import { Cursor } from "../../cli/yaml/cursor.js";
import { Source } from "../../cli/yaml/source.js";
import { fixtures, WASM_IN_GOLDEN, type Fixture } from "./support.js";

const validator = moduleValidator(builtModulePath(), MODULE_FILES);

describe.each(fixtures("lower"))("$name", (fixture) => {
  test("gives the same as objects as it does as text", () => {
    const options = optionsOf(fixture);
    const input = objectsOf(fixture.text);
    const before = JSON.stringify(input);
    const { objects, warnings } = lower(input, options);
    const text = lower(fixture.text, options);
    expect(read(JSON.stringify(objects))).toEqual(objectsOf(text.text));
    expect(warnings.map(({ message }) => message)).toEqual(text.warnings.map(({ message }) => message));
    expect(JSON.stringify(input)).toBe(before);
  });
});

/** In objects, what one alias stands for twice stands in two places. */
const readable = fixtures("errors").filter(({ name, text }) => name !== "through-an-alias.yaml" && isReadable(text));

describe.each(readable)("$name", ({ text }) => {
  test("has the same findings as objects as it has as text", () => {
    const places = (findings: InputError["findings"]): string[] =>
      [...new Set(findings.map(({ path, message }) => `${path}: ${message}`))].sort();
    expect(places(findingsOf(objectsOf(text)))).toEqual(places(findingsOf(text)));
  });
});

const CLUSTER = { "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", name: "a", connect_timeout: "1s" };

test("what does not change is the object that was given", () => {
  const objects = [CLUSTER, ROUTES];
  const lowered = lower(objects, { wasm: WASM_IN_GOLDEN, validator });
  expect(lowered.objects[0]).toBe(CLUSTER);
  expect(lowered.objects[1]).not.toBe(ROUTES);
  expect(virtualHosts(lowered.objects[1])[1]).toBe(virtualHosts(ROUTES)[1]);
});

test("an object that stands in two places is lowered in both", () => {
  const config = { ...ROUTES, virtual_hosts: ["x", "y"].map((name) => ({ ...HOST, name, domains: [name] })) };
  const [one, two] = virtualHosts(lower(config, { wasm: WASM_IN_GOLDEN, validator }).objects);
  expect(JSON.stringify(one)).toContain("@ar-");
  expect(one?.["routes"]).toEqual(two?.["routes"]);
});

test("errors name the resource and the path, and no line", () => {
  const wrong = structuredClone(ROUTES);
  groupsOf(wrong).push({ name: "", clusters: [] });
  const [first] = findingsOf([CLUSTER, wrong]);
  expect(first).toMatchObject({ file: "", line: 0, col: 0 });
  expect(first?.path).toMatch(/^resources\[1\]\.virtual_hosts\[0\]\.routes\[0\]\..*priority_groups\[1\]/);
  expect(new InputError(first === undefined ? [] : [first]).message).toMatch(/^resources\[1\].*: expected .*, found /);
});

test.each([
  ["a function", { admin: { address: () => 1 } }, "admin"],
  ["a big integer", { admin: [{ port: 1n }] }, "admin[0]"],
  ["objects in a circle", circle(), "(document)"],
])("%s is no JSON and is refused", (_, objects, path) => {
  expect(findingsOf(objects as unknown as ConfigObject)).toMatchObject([{ path }]);
});

test("a Lowerer loads the module once", () => {
  const load = vi.spyOn(WasmHost, "load");
  const lowerer = new Lowerer({ wasm: WASM_IN_GOLDEN });
  const first = lowerer.lower([ROUTES]).objects;
  expect(lowerer.lower(structuredClone([ROUTES])).objects).toEqual(first);
  expect(lowerer.lower(JSON.stringify(ROUTES)).text).toContain("@ar-");
  expect(load).toHaveBeenCalledTimes(1);
});

function optionsOf({ options }: Fixture): LowerOptions {
  const after = (name: string): string => options[options.indexOf(name) + 1] ?? "";
  const remote = { url: after("--wasm-remote"), sha256: after("--sha256") };
  return {
    attemptHeader: !options.includes("--no-attempt-header"),
    failurePolicy: options.includes("FAIL_RELOAD") ? "FAIL_RELOAD" : "FAIL_OPEN",
    rds: options.includes("--rds"),
    splitWeights: options.includes("--split-weights"),
    validator,
    ...(options.includes("--wasm-remote") ? { wasmRemote: remote } : { wasm: WASM_IN_GOLDEN }),
  };
}

/** As Envoy reads a text: without comments, aliases and merge keys. */
function objectsOf(text: string): ConfigObject {
  return read(text);
}

function read(text: string): ConfigObject {
  return Cursor.root(Source.parse("in.yaml", text)).json() as ConfigObject;
}

function isReadable(text: string): boolean {
  try {
    const value: unknown = read(text);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}

function findingsOf(input: string | ConfigObject | ConfigObject[]): InputError["findings"] {
  try {
    if (typeof input === "string") lower(input, { validator });
    else lower(input, { validator });
  } catch (error) {
    if (error instanceof InputError) return error.findings;
    throw error;
  }
  throw new Error("expected findings");
}

function circle(): object {
  const inner: { admin?: object } = {};
  inner.admin = inner;
  return inner;
}

const PRIORITY_GROUP =
  "type.googleapis.com/envoy.extensions.router.cluster_specifiers.priority_group.v3.PriorityGroupClusterSpecifier";
const SPECIFIER = {
  "@type": PRIORITY_GROUP,
  priority_groups: [
    {
      name: "g",
      clusters: [
        { cluster_name: "a", weight: 1 },
        { cluster_name: "b", weight: 1 },
      ],
    },
  ],
};
const EXTENSION = { name: "priority_group", typed_config: SPECIFIER };
const HOST = {
  name: "v",
  domains: ["*"],
  routes: [{ match: { prefix: "/" }, name: "r", route: { inline_cluster_specifier_plugin: { extension: EXTENSION } } }],
};
const ROUTES = {
  "@type": "type.googleapis.com/envoy.config.route.v3.RouteConfiguration",
  name: "routes",
  virtual_hosts: [HOST, { name: "other", domains: ["other"], routes: [] }],
};

function virtualHosts(config: unknown): ConfigObject[] {
  return (config as typeof ROUTES).virtual_hosts as unknown as ConfigObject[];
}

function groupsOf(config: typeof ROUTES): unknown[] {
  const route = config.virtual_hosts[0]?.routes[0] as (typeof HOST.routes)[number];
  return route.route.inline_cluster_specifier_plugin.extension.typed_config.priority_groups;
}
