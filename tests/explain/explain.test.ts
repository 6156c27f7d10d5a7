import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, test } from "vitest";
import { explain, type Question } from "../../cli/explain/explain.js";
import { ModulePicks } from "../../cli/explain/module-picks.js";
import { inOrder, response, type Answer, type ExplainedRequest } from "../../cli/explain/request.js";
import { WasmHost } from "../../cli/host/index.js";
import { readProgram } from "../../cli/read/program.js";
import { WASM } from "../support/lowering.js";
import { clusterOf, groupOf, routeWith, settingsOf } from "../module/routes.js";

let module: ModulePicks;

beforeAll(() => {
  module = new ModulePicks(readFileSync(WASM));
});

const GROUPS = `
              priority_groups:
              - {name: g1, clusters: [{cluster_name: c0, weight: 2}, {cluster_name: c1, weight: 1}]}
              - {name: g2, clusters: [{cluster_name: c0, weight: 1}, {cluster_name: c1, weight: 3}, {cluster_name: c2, weight: 1}]}`;

const config = (routes: string, host = ""): string => `
name: rc
virtual_hosts:
- name: exact
  domains: [API.example.com]
  routes: [{match: {prefix: /}, direct_response: {status: 201}}]
- name: suffix
  domains: ["*.example.com"]
  routes: [{match: {prefix: /}, direct_response: {status: 202}}]
- name: long_suffix
  domains: ["*.a.example.com"]
  routes: [{match: {prefix: /}, direct_response: {status: 203}}]
- name: prefix
  domains: ["www.*"]
  routes: [{match: {prefix: /}, redirect: {path_redirect: /x, response_code: FOUND}}]
- name: rest
  domains: ["*"]${host}
  routes:${routes}
`;

const grouped = (rest = "", more = ""): string => `
  - match: {prefix: /}
    name: r
    route:
      inline_cluster_specifier_plugin:
        extension:
          name: p
          typed_config:
              "@type": type.googleapis.com/envoy.extensions.router.cluster_specifiers.priority_group.v3.PriorityGroupClusterSpecifier${rest}${GROUPS}
      retry_policy: {retry_on: 5xx, num_retries: 1, refresh_cluster_on_retry: true}${more}`;

function ask(text: string, request: Partial<ExplainedRequest> = {}, rest: Partial<Question> = {}) {
  const whole = {
    method: "GET",
    path: "/",
    authority: "x",
    scheme: "http",
    headers: [],
    metadata: {},
    client: "127.0.0.1",
  };
  const answers = inOrder([response(503)]);
  return explain(
    readProgram("f.yaml", text),
    { answers, ...rest, request: { ...whole, random: undefined, ...request } },
    module,
  );
}

describe("the virtual host", () => {
  test.each([
    ["api.example.com", "exact"],
    ["API.EXAMPLE.COM", "exact"],
    ["b.example.com", "suffix"],
    ["b.a.example.com", "long_suffix"],
    [".example.com", "rest"],
    ["www.a", "prefix"],
    ["www.", "rest"],
    ["www.a.example.com", "long_suffix"],
    ["api.example.com:80", "rest"],
  ])("%s belongs to %s", (authority, name) => {
    expect(ask(config(grouped()), { authority }).virtual_host).toBe(name);
  });
});

describe("the route", () => {
  // Each was run on Envoy 1.40, too.
  const lines = (...values: string[]) => values.map((value): [string, string] => ["a", value]);
  const match = (text: string): string =>
    `\n  - {match: ${text}, direct_response: {status: 299}}\n  - {match: {prefix: ""}, direct_response: {status: 200}}`;
  const holds = (text: string, request: Partial<ExplainedRequest> = {}): boolean =>
    ask(config(match(text)), request).result.status === 299;

  test.each<[string, Partial<ExplainedRequest>, boolean]>([
    ["{path: /a}", { path: "/a?x=1" }, true],
    ["{path: /a}", { path: "/A" }, false],
    ["{path: /a, case_sensitive: false}", { path: "/A" }, true],
    ["{path_separated_prefix: /a}", { path: "/a/b" }, true],
    ["{path_separated_prefix: /a}", { path: "/ab" }, false],
    ["{safe_regex: {regex: '/v[0-9]+/.*'}}", { path: "/v12/x?y" }, true],
    ["{safe_regex: {regex: '/v[0-9]+'}}", { path: "/v12/x" }, false],
    ["{safe_regex: {regex: '(?i)/V[[:digit:]]'}}", { path: "/v1" }, true],
    ["{prefix: /, headers: [{name: a, string_match: {prefix: x}}]}", { headers: [["a", "xy"]] }, true],
    [
      "{prefix: /, headers: [{name: a, string_match: {prefix: x}, invert_match: true}]}",
      { headers: [["a", "b"]] },
      true,
    ],
    ["{prefix: /, headers: [{name: a, string_match: {prefix: x}, invert_match: true}]}", {}, false],
    ["{prefix: /, headers: [{name: a, present_match: true, invert_match: true}]}", {}, true],
    ["{prefix: /, headers: [{name: ':method', string_match: {exact: POST}}]}", { method: "POST" }, true],
    ["{prefix: /, query_parameters: [{name: q, string_match: {exact: '1'}}]}", { path: "/?p=2&q=1" }, true],
    ["{prefix: /, query_parameters: [{name: q, present_match: true}]}", { path: "/?p=2" }, false],
    ["{prefix: /, headers: [{name: a, string_match: {exact: '2'}}]}", { headers: lines("1", "2") }, true],
    ["{prefix: /, headers: [{name: a, string_match: {exact: '1,2'}}]}", { headers: lines("1", "2") }, false],
    [
      "{prefix: /, headers: [{name: a, string_match: {exact: '2'}, invert_match: true}]}",
      { headers: lines("1", "2") },
      false,
    ],
    ["{prefix: /, headers: [{name: a, range_match: {start: 1, end: 10}}]}", { headers: lines("+5") }, true],
    ["{prefix: /, headers: [{name: a, range_match: {start: 1, end: 10}}]}", { headers: lines("10") }, false],
    ["{prefix: /, grpc: {}}", { headers: [["content-type", "application/grpc+proto"]] }, true],
    ["{prefix: /, grpc: {}}", { headers: [["content-type", "application/grpc-web"]] }, false],
    ["{prefix: /, runtime_fraction: {default_value: {numerator: 30}}}", { random: 129n }, true],
    ["{prefix: /, runtime_fraction: {default_value: {numerator: 30}}}", { random: 130n }, false],
  ])("%s, request %#: %s", (text, request, expected) => {
    expect(holds(text, request)).toBe(expected);
  });

  test("an expression that JavaScript cannot decide is said, not guessed", () => {
    const { undecided } = ask(config(match("{safe_regex: {regex: '/\\pL+'}}")));
    expect(undecided.join()).toContain("only RE2 can decide");
  });

  test("a fraction without a random value is said with its share", () => {
    const { undecided } = ask(config(match("{prefix: /, runtime_fraction: {default_value: {numerator: 30}}}")));
    expect(undecided.join()).toContain("takes 30 % of such requests");
  });
});

describe("the tree of picks", () => {
  const text = config(grouped());

  test("has every way with its exact share", () => {
    const { paths, attempts, result } = ask(text);
    // 15 values: the first group has thirds, the second fifths.
    const share = (n: number): number => Number((n / 15).toFixed(9));
    const ways = paths.map(({ clusters, probability }) => [clusters.join(), probability]).sort();
    expect(ways).toEqual([
      ["c0,c0", share(2)],
      ["c0,c1", share(6)],
      ["c0,c2", share(2)],
      ["c1,c0", share(1)],
      ["c1,c1", share(3)],
      ["c1,c2", share(1)],
    ]);
    expect(attempts.map(({ cluster }) => cluster)).toEqual([null, null]);
    expect(result).toMatchObject({ status: 503, cluster: null });
  });

  test("agrees with 5,000 requests that the module picked for", () => {
    const groups = [groupOf(2, 1), groupOf(1, 3, 1)];
    const host = WasmHost.load(readFileSync(WASM), { seed: 7 });
    const counts = new Map<string, number>();
    for (let i = 0; i < 5000; i++) {
      const request = host.request(routeWith(settingsOf(groups)));
      const way = [1, 2].map((attempt) => clusterOf(request, groups, attempt)).join();
      request.end();
      counts.set(way, (counts.get(way) ?? 0) + 1);
    }
    for (const { clusters, probability } of ask(text).paths) {
      expect(Math.abs((counts.get(clusters.join()) ?? 0) / 5000 - probability)).toBeLessThan(0.03);
    }
  });

  test("a random value chooses one way", () => {
    const { attempts, paths } = ask(text, { random: 14n });
    expect(attempts.map(({ cluster }) => cluster)).toEqual(["c1", "c2"]);
    expect(attempts[0]?.candidates).toEqual([
      { cluster: "c0", probability: 0.666666667 },
      { cluster: "c1", probability: 0.333333333 },
    ]);
    expect(paths).toHaveLength(1);
  });

  test("weights without a small period are sampled", () => {
    const odd = text.replace("weight: 2}", "weight: 999983}").replace("weight: 3}", "weight: 999979}");
    const { sampled, attempts } = ask(odd);
    expect(sampled).toBe(true);
    expect(attempts[0]?.candidates[0]?.probability).toBeCloseTo(999983 / 999984, 2);
  });
});

describe("skip_clusters_without_hosts", () => {
  const metadata = (value: boolean) =>
    `\n    metadata: {filter_metadata: {attempt_router: {skip_clusters_without_hosts: ${value}}}}`;
  const attempts = (skips: boolean, down: string[]) =>
    ask(config(grouped("", metadata(skips))), { random: 0n }, { down }).attempts;

  test("leads an attempt on within its group, and then to the groups behind", () => {
    expect(attempts(true, ["c0"])[0]).toMatchObject({ cluster: "c1", skipped: ["c0"], answer: 503 });
    expect(attempts(true, ["c0", "c1"])[0]).toMatchObject({ cluster: "c2", skipped: ["c0", "c1"] });
    expect(attempts(true, ["c0", "c1", "c2"])).toMatchObject([{ cluster: null, answer: "no host", next: "end" }]);
  });

  test("false ends the request", () => {
    expect(attempts(false, ["c0"])).toMatchObject([{ cluster: null, answer: "no host", next: "end" }]);
  });
});

test("cool_down says what an answer leads to", () => {
  const because = (setting: string, answer: Answer) => {
    const metadata = `\n    metadata: {filter_metadata: {attempt_router: {cool_down: ${setting}}}}`;
    return ask(config(grouped("", metadata)), { random: 0n }, { answers: inOrder([answer]) }).attempts[0]?.because;
  };
  expect(because("{statuses: [503], base: 5s}", response(503))).toMatch("; c0 is then left out for 5 s");
  expect(because("{statuses: [504]}", { kind: "reset" })).toMatch("; c0 is then left out for 10 s");
  expect(because("{statuses: [503], consecutive: 3}", response(503))).toMatch("; 3 such answers in a row leave c0 out");
  expect(because("{statuses: [429]}", response(503))).not.toMatch("left out");
});

describe("an override", () => {
  const text = config(grouped("\n              override_metadata_namespace: ns"));
  const told = (groups: object[]) =>
    ask(text, { random: 0n, metadata: { ns: { priority_groups: groups } as never } }).attempts.map(
      (one) => one.override,
    );

  test("is said to be used, by name or with its own clusters", () => {
    expect(told([{ name: "g2" }, { name: "x", clusters: [{ cluster_name: "d", weight: 1 }] }])).toEqual([
      { used: true, because: "priority_groups[0] of the override names a configured group" },
      { used: true, because: "priority_groups[1] of the override brings its own clusters" },
    ]);
  });

  test("is said to be refused, with the module's reason", () => {
    const [first, second] = told([{ name: "g1" }, { name: "g2", clusters: [{ cluster_name: "d", weight: 0 }] }]);
    expect(first?.used).toBe(true);
    expect(second?.used).toBe(false);
    expect(second?.because).toMatch(/^refused: .*weight/);
  });

  test("is absent where nobody wrote one", () => {
    expect(ask(text).attempts[0]?.override).toEqual({
      used: false,
      because: "no filter wrote metadata ns: the configured groups count",
    });
  });
});

describe("specifiers", () => {
  const TYPE = "type.googleapis.com/attempt_router.v1.";
  const specifier = (name: string, type: string, fields: string): string =>
    `{name: ${name}, typed_config: {"@type": ${TYPE}${type}, ${fields}}}`;
  const withSpecifiers = (list: string[]): string =>
    config(grouped("", `\n    route_specifiers: [${list.join(", ")}]`));
  const alice: Partial<ExplainedRequest> = { headers: [["x-user", "alice"]], random: 0n };
  const isAlice = "when: {headers: [{name: x-user, string_match: {exact: alice}}]}";

  test("a condition that fails is said with the part that fails", () => {
    const text = withSpecifiers([specifier("s", "RouteOverride", `${isAlice}, cluster: d`)]);
    const { specifiers, attempts } = ask(text, { random: 0n });
    expect(specifiers).toEqual([
      {
        level: "route",
        name: "s",
        type: "RouteOverride",
        applied: false,
        because: '{"headers":[{"name":"x-user","string_match":{"exact":"alice"}}]} does not hold',
      },
    ]);
    expect(attempts.map(({ cluster }) => cluster)).toEqual(["c0", "c0"]);
  });

  test("an override replaces cluster, time-out and retries; what follows a final one does not run", () => {
    const fields = `${isAlice}, final: true, cluster: d, timeout: 3s, retry_policy: {retry_on: 5xx, num_retries: 2}`;
    const text = withSpecifiers([specifier("s", "RouteOverride", fields), specifier("t", "DropRoute", "")]);
    const { specifiers, attempts, retries } = ask(text, alice);
    expect(specifiers.map(({ applied, because }) => [applied, because])).toEqual([
      [true, "its condition holds"],
      [false, "an earlier specifier was final"],
    ]);
    expect(attempts.map(({ cluster }) => cluster)).toEqual(["d", "d", "d"]);
    expect(retries).toMatchObject({ num_retries: 2, timeout_ms: 3000 });
  });

  test("a dropped route is 404", () => {
    const { result, specifiers } = ask(withSpecifiers([specifier("t", "DropRoute", "")]), alice);
    expect([result.status, specifiers[0]?.applied]).toEqual([404, true]);
  });

  test("groups of an override walk", () => {
    const fields =
      "priority_groups: [{name: a, clusters: [{cluster_name: x, weight: 1}]}, {name: b, clusters: [{cluster_name: z, weight: 1}]}]";
    const { attempts } = ask(withSpecifiers([specifier("s", "RouteOverride", fields)]), alice);
    expect(attempts.map(({ cluster, group }) => [group, cluster])).toEqual([
      ["a", "x"],
      ["b", "z"],
    ]);
  });

  test("a template takes the request where its match holds", () => {
    const template = (prefix: string): string =>
      `template_id: t, templates: [{template_id: t, route: {name: tpl, match: {prefix: ${prefix}}, route: {cluster: z}}}]`;
    const route = (prefix: string) => ask(withSpecifiers([specifier("s", "RouteTemplate", template(prefix))]), alice);
    expect([route("/").route, route("/").result.cluster]).toEqual(["tpl", "z"]);
    expect([route("/no").route, route("/no").specifiers[0]?.applied]).toEqual(["r", false]);
  });
});

test("listener and route configuration have to be there", () => {
  expect(() => ask(config(grouped()), {}, { listener: "zz" })).toThrow(
    "expected one of the listeners (none), found zz",
  );
  expect(() => ask(config(grouped()), {}, { routeConfiguration: "zz" })).toThrow(
    "expected one of the route configurations rc, found zz",
  );
});
