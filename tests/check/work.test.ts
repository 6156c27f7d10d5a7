// How the work grows with the file, counted as reads of the model: twice the file is at most about twice the work.

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { stringify } from "yaml";
import { CHECKS } from "../../cli/check/checks/index.js";
import { CheckContext } from "../../cli/check/context.js";
import { explain } from "../../cli/explain/explain.js";
import { ModulePicks } from "../../cli/explain/module-picks.js";
import { inOrder } from "../../cli/explain/request.js";
import type { Program } from "../../cli/model/index.js";
import { readProgram } from "../../cli/read/program.js";
import { WASM } from "../support/lowering.js";
import { bootstrapOf, findingsOf } from "./examples.js";

const module = new ModulePicks(readFileSync(WASM));

/** A bootstrap with so many routes, each with two clusters of its own. */
function programOf(routes: number): Program {
  const config = JSON.parse(JSON.stringify(routesOf(routes))) as Parameters<typeof bootstrapOf>[0];
  return readProgram("big.yaml", bootstrapOf(config));
}

function routesOf(count: number): object {
  const extension = (index: number): object => ({
    name: "chain",
    typed_config: {
      "@type":
        "type.googleapis.com/envoy.extensions.router.cluster_specifiers.priority_group.v3.PriorityGroupClusterSpecifier",
      priority_groups: ["x", "y"].map((name) => ({
        name,
        clusters: [{ cluster_name: `${name}${index}`, weight: 1 }],
      })),
    },
  });
  const more_routes = Array.from({ length: count }, (_, index) => ({
    match: { prefix: `/p${index}/` },
    route: { inline_cluster_specifier_plugin: { extension: extension(index) }, retry_policy: { retry_on: "5xx" } },
  }));
  const names = Array.from({ length: count * 2 }, (_, index) => `${index % 2 === 0 ? "x" : "y"}${index >> 1}`);
  const clusters = ["a", "b", "c", ...names].map((name) => ({ name, type: "STATIC", connect_timeout: "1s" }));
  return { more_routes, bootstrap: { static_resources: { clusters } } };
}

/** The program, and how often something of it was read. */
function counted<T extends object>(root: T): { root: T; reads: () => number } {
  let reads = 0;
  const known = new WeakMap<object, object>();
  const wrap = (value: unknown): unknown => {
    if (typeof value !== "object" || value === null || value instanceof Map || value instanceof Set) return value;
    const before = known.get(value);
    if (before !== undefined) return before;
    const proxy = new Proxy(value, {
      get: (target, key, receiver) => {
        reads += 1;
        return wrap(Reflect.get(target, key, receiver));
      },
    });
    known.set(value, proxy);
    return proxy;
  };
  return { root: wrap(root) as T, reads: () => reads };
}

const SMALL = 30;
const programs = [SMALL, 2 * SMALL].map(programOf);

/** How much more is read of twice the file. */
function growth<T extends object>(subject: (program: Program) => T, work: (subject: T) => unknown): number {
  const [small = 1, large = 0] = programs.map((program) => {
    const { root, reads } = counted(subject(program));
    work(root);
    return reads();
  });
  return large / small;
}

test.each(CHECKS.map((check) => [check.code, check] as const))("%s looks at each thing a few times", (_, check) => {
  const context = (program: Program): CheckContext => new CheckContext(program, () => true);
  expect(growth(context, (one) => check.find(one))).toBeLessThan(2.2);
});

test("what checks look at is gathered in as many steps", () => {
  const gather = (program: Program): unknown => new CheckContext(program, () => true);
  expect(growth((program) => program, gather)).toBeLessThan(2.2);
});

test("explain does, too", () => {
  const request = { method: "GET", authority: "a", scheme: "http", headers: [], metadata: {}, random: 1n };
  const question = { answers: inOrder([]), request: { ...request, path: "/p29/", client: "127.0.0.1" } };
  expect(
    growth(
      (program) => program,
      (program) => explain(program, question, module),
    ),
  ).toBeLessThan(2.2);
});

test("the count sees what is looked for again and again", () => {
  const search = ({ clusters }: Program): unknown =>
    clusters.map((one) => clusters.find(({ name }) => name?.value === one.name?.value));
  expect(growth((program) => program, search)).toBeGreaterThan(3);
});

test.each([
  ["a prefix takes what is behind it", { prefix: "/a" }, { prefix: "/ab" }, true],
  ["the same path with its case", { prefix: "/a" }, { path: "/a/b" }, true],
  ["a prefix with its case leaves other spellings", { prefix: "/a" }, { path: "/a/b", case_sensitive: false }, false],
  ["a prefix without regard to case", { prefix: "/A", case_sensitive: false }, { path: "/a/b" }, true],
  ["everything", { prefix: "/" }, { path: "/a", case_sensitive: false }, true],
  ["every expression", { prefix: "/" }, { safe_regex: { regex: "/a.*" } }, true],
  ["an expression is not read", { prefix: "/a" }, { safe_regex: { regex: "/a.*" } }, false],
])("unreachable-route: %s", (_, before, after, isFound) => {
  const more_routes = [before, after].map((match) => ({ match, route: { cluster: "a" } }));
  const route_fields = { match: { prefix: "/v1" } };
  const codes = findingsOf(stringify({ route_fields, more_routes })).map(({ code }) => code);
  expect(codes.includes("unreachable-route")).toBe(isFound);
});
