import { beforeAll, describe, expect, it } from "vitest";
import { WasmHost, type HeadersInput, type RequestSpec } from "../../cli/host/index.js";
import { clusterOf, expectedPick, groupOf, MODULE, routeWith, settingsOf, type TestGroup } from "./routes.js";
import { rotl, xxh64 } from "./xxhash64.js";

let host: WasmHost;

beforeAll(() => {
  host = WasmHost.load(MODULE);
});

/** Clusters of attempts 1 to `attempts` of one request. */
function walk(spec: RequestSpec, groups: TestGroup[], attempts = groups.length): string[] {
  const request = host.request(spec);
  request.end();
  return Array.from({ length: attempts }, (_, i) => clusterOf(request, groups, i + 1));
}

const utf8 = (text: string): Uint8Array => Buffer.from(text, "utf8");

describe("weighted pick", () => {
  const route = (groups: TestGroup[]) => routeWith(settingsOf(groups, { header_name: "x-pick" }));

  it.each([[[1]], [[1, 1]], [[80, 20]], [[1, 2, 3]], [[5, 1, 7, 1]], [[1, 1, 1, 1, 1]]])(
    "gives every residue of weights %j its interval",
    (weights) => {
      const groups = [groupOf(...weights)];
      const spec = route(groups);
      const total = weights.reduce((sum, weight) => sum + weight, 0);
      for (let random = 0; random < 2 * total + 1; random++) {
        const picked = walk({ ...spec, headers: { "x-pick": String(random) } }, groups);
        expect(picked, `random ${random}`).toEqual(groups.map((group) => expectedPick(group, BigInt(random))));
      }
    },
  );

  it("gives a cluster that is listed twice two intervals", () => {
    const clusters = ["a", "b", "a", "c"].map((cluster_name) => ({ cluster_name, weight: 1 }));
    const groups = [{ name: "g", clusters }];
    const picks = [0, 1, 2, 3].map((n) => walk({ ...route(groups), headers: { "x-pick": String(n) } }, groups)[0]);
    expect(picks).toEqual(["a", "b", "a", "c"]);
  });

  it.each([
    [4294967294n, "c0"],
    [4294967295n, "c1"],
    [8589934589n, "c1"],
    [8589934590n, "c2"],
    [12884901884n, "c2"],
    [12884901885n, "c0"],
    [18446744073709551614n, "c1"],
    [18446744073709551615n, "c2"],
  ])("sums weights in 64 bits: %i goes to %s", (random, expected) => {
    const groups = [groupOf("4294967295", "4294967295", "4294967295")];
    expect(expectedPick(groups[0] ?? groupOf(), random)).toBe(expected);
    expect(walk({ ...route(groups), headers: { "x-pick": String(random) } }, groups)).toEqual([expected]);
  });

  it("uses one random value for every attempt", () => {
    const groups = [groupOf(1, 1, 1), groupOf(1, 1, 1), groupOf(1, 1, 1)];
    for (let i = 0; i < 100; i++) expect(new Set(walk(routeWith(settingsOf(groups)), groups)).size).toBe(1);
  });

  it("writes only the slots whose pick is not the default, and then resolves the route anew", () => {
    const spec = route([groupOf(1, 1), groupOf(1), groupOf(3, 1)]);
    const kept = host.request({ ...spec, headers: { "x-pick": "0" } });
    expect([kept.slots, kept.routeCacheCleared]).toEqual([{}, false]);
    const first = host.request({ ...spec, headers: { "x-pick": "1" } });
    expect([first.slots, first.routeCacheClears]).toEqual([{ 1: "c1" }, ["clear_route_cache"]]);
    const all = host.request({ ...spec, headers: { "x-pick": "3" } });
    expect([all.slots, all.routeCacheClears]).toEqual([{ 1: "c1", 3: "c1" }, ["clear_route_cache"]]);
  });

  it("does not resolve the route anew for a later attempt only", () => {
    const request = host.request({ ...route([groupOf(1), groupOf(1, 1)]), headers: { "x-pick": "1" } });
    expect([request.slots, request.routeCacheCleared]).toEqual([{ 2: "c1" }, false]);
  });

  it("repeats the last group in the slots past the end of the list", () => {
    const settings = settingsOf([groupOf(1), groupOf(1, 1)], { header_name: "x-pick" }, { slots: 4 });
    expect(host.request({ ...routeWith(settings), headers: { "x-pick": "1" } }).slots).toEqual({
      2: "c1",
      3: "c1",
      4: "c1",
    });
  });
});

/** Whether a request gives the same cluster every time: an internal value would not, over 60 requests. */
function picksOf(spec: RequestSpec, groups: TestGroup[]): string[] {
  return [...new Set(Array.from({ length: 60 }, () => walk(spec, groups, 1)[0] ?? ""))].sort();
}

describe("header_name", () => {
  const groups = [groupOf(1, 1, 1)];
  const route = routeWith(settingsOf(groups, { header_name: "X-Pick" }));

  it.each([
    ["0", "c0"],
    ["1", "c1"],
    ["2", "c2"],
    ["3", "c0"],
    ["+1", "c1"],
    [" 1 ", "c1"],
    ["\t1", "c1"],
    ["01", "c1"],
    [`${"0".repeat(30)}2`, "c2"],
    ["18446744073709551615", "c0"],
    ["18446744073709551614", "c2"],
  ])("reads %j", (value, expected) => {
    expect(picksOf({ ...route, headers: { "x-pick": value } }, groups)).toEqual([expected]);
  });

  it.each<[string, HeadersInput]>([
    ["2^64", { "x-pick": "18446744073709551616" }],
    ["a 21-digit number", { "x-pick": "100000000000000000000" }],
    ...["-1", "-0", "1e0", "1.0", "0x1", "1_0", "1,2", "", "+", " ", "++1", "+ 1", "1 2", "\u00a01", "\u00b2"].map(
      (value): [string, HeadersInput] => [JSON.stringify(value), { "x-pick": value }],
    ),
    ["two equal lines", { "x-pick": ["1", "1"] }],
    ["a number and an empty line", { "x-pick": ["1", ""] }],
    ["no header", {}],
  ])("takes an internal value for %s", (_name, headers) => {
    expect(picksOf({ ...route, headers }, groups)).toEqual(["c0", "c1", "c2"]);
  });

  it("is not configured when it is empty", () => {
    const spec = routeWith(settingsOf(groups, { header_name: "" }));
    expect(picksOf({ ...spec, headers: { "x-pick": "1" } }, groups)).toEqual(["c0", "c1", "c2"]);
  });
});

describe("XXH64 for the tests", () => {
  it.each([
    ["", 0n, 0xef46db3751d8e999n],
    ["a", 0n, 0xd24ec4f1a98c6e5bn],
    ["abc", 0n, 0x44bc2cf5ad770999n],
    ["Nobody inspects the spammish repetition", 0n, 0xfbcea83c8a378bf1n],
  ])("hashes %j as published", (text, seed, hash) => expect(xxh64(utf8(text), seed)).toBe(hash));
});

/** Hash of the lines of one header, as Envoy chains them. */
function headerHash(...lines: string[]): bigint {
  const sorted = lines.map((line) => Buffer.from(line, "latin1")).sort((a, b) => Buffer.compare(a, b));
  return sorted.reduce((hash, line) => xxh64(line, hash), 0n);
}

const combine = (...hashes: bigint[]): bigint => hashes.reduce((acc, hash) => rotl(acc, 1n) ^ hash, 0n);

describe("use_hash_policy", () => {
  // Many intervals of odd sizes, so that a wrong hash hardly ever gives the right cluster.
  const groups = [groupOf(7, 13, 5, 29, 11, 17, 3, 23, 19)];
  const HEADER = { header: { header_name: "X-Key" } };
  const COOKIE = { cookie: { name: "session" } };
  const SOURCE_IP = { connection_properties: { source_ip: true } };
  const QUERY = { query_parameter: { name: "user" } };
  const route = (...hash_policy: object[]) =>
    routeWith(
      settingsOf(groups, { use_hash_policy: true }, JSON.parse(JSON.stringify({ hash_policy })) as { hash_policy: [] }),
    );
  const expectHash = (spec: RequestSpec, hash: bigint) =>
    expect(picksOf(spec, groups)).toEqual([expectedPick(groups[0] ?? groupOf(), hash)]);
  const expectInternal = (spec: RequestSpec) => expect(picksOf(spec, groups).length).toBeGreaterThan(3);

  it("hashes a header of every length to 100 bytes", () => {
    for (let length = 0; length <= 100; length++) {
      const value = Array.from({ length }, (_, i) => String.fromCharCode(33 + ((i * 7 + length) % 94))).join("");
      const picked = walk({ ...route(HEADER), headers: { "x-key": value } }, groups);
      expect(picked, `length ${length}`).toEqual([expectedPick(groups[0] ?? groupOf(), headerHash(value))]);
    }
  });

  it.each([[["b", "a"]], [["a", "b"]], [["a", "a"]], [["", "z", ""]], [["aa", "a", "\u00ff", "Z"]]])(
    "sorts and chains the lines %j",
    (lines) => expectHash({ ...route(HEADER), headers: { "x-key": lines } }, headerHash(...lines)),
  );

  it.each([
    ["session=abc", "abc"],
    ["a=b; session=abc; c=d", "abc"],
    ['session="quoted"', "quoted"],
    ["session=a=b", "a=b"],
    ["xsession=no; session=yes", "yes"],
    ["session=first; session=second", "first"],
  ])("hashes the value of cookie %j", (cookie, value) => {
    expectHash({ ...route(COOKIE), headers: { cookie } }, xxh64(utf8(value)));
  });

  // Envoy's request headers hold `host` under `:authority`; the module looks for a line of the name `host`.
  it("hashes :authority for the header name host", () => {
    expectHash({ ...route({ header: { header_name: "Host" } }), headers: { host: "a" } }, headerHash("a"));
  });

  it("hashes :authority under its own name", () => {
    expectHash({ ...route({ header: { header_name: ":authority" } }), headers: { host: "a" } }, headerHash("a"));
  });

  it("finds a cookie in a later line", () => {
    expectHash({ ...route(COOKIE), headers: { cookie: ["a=b", "session=abc"] } }, xxh64(utf8("abc")));
  });

  it.each([
    ["10.1.2.3:4567", "10.1.2.3"],
    ["[2001:db8::1]:4567", "2001:db8::1"],
  ])("hashes the address of %s without its port", (sourceAddress, ip) => {
    expectHash({ ...route(SOURCE_IP), sourceAddress }, xxh64(utf8(ip)));
  });

  it.each([
    ["/?user=abc", "abc"],
    ["/a/b?x=1&user=a%20b&user=second", "a%20b"],
    ["/?user", ""],
    ["/?user=", ""],
    ["/?xuser=1&user=2", "2"],
  ])("hashes the query parameter of %s", (path, value) => {
    expectHash({ ...route(QUERY), headers: { ":path": path } }, xxh64(utf8(value)));
  });

  it("combines several policies in order and skips those without a value", () => {
    const spec = {
      sourceAddress: "10.1.2.3:4567",
      headers: { "x-key": "k", ":path": "/?user=u", cookie: "session=s" },
    };
    const [key, user, cookie, ip] = [headerHash("k"), ...["u", "s", "10.1.2.3"].map((text) => xxh64(utf8(text)))];
    const hashes = [key, cookie, ip, user].map((hash) => hash ?? 0n);
    expectHash({ ...route(HEADER, COOKIE, SOURCE_IP, QUERY), ...spec }, combine(...hashes));
    const absent = { header: { header_name: "x-absent" } };
    expectHash({ ...route(absent, HEADER, absent, QUERY), ...spec }, combine(key, user ?? 0n));
    expectHash({ ...route(HEADER, HEADER), ...spec }, combine(key, key));
  });

  it("stops at a terminal policy as soon as there is a hash", () => {
    const headers = { "x-key": "k", ":path": "/?user=u" };
    const terminal = { ...HEADER, terminal: true };
    expectHash({ ...route(terminal, QUERY), headers }, headerHash("k"));
    const absent = { cookie: { name: "none" }, terminal: true };
    expectHash({ ...route(absent, QUERY), headers }, xxh64(utf8("u")));
    // A terminal policy without a value of its own stops too, when an earlier one had a value.
    expectHash({ ...route(HEADER, absent, QUERY), headers }, headerHash("k"));
  });

  it("takes an internal value when no policy has a value", () => {
    expectInternal(route());
    expectInternal(route(HEADER, COOKIE, QUERY));
    expectInternal({ ...route(COOKIE), headers: { cookie: "session=; other=1" } });
    expectInternal(route({ connection_properties: { source_ip: false } }));
  });

  it("never evaluates policies when it is false", () => {
    const settings = settingsOf(groups, { use_hash_policy: false }, { hash_policy: [HEADER] });
    expectInternal({ ...routeWith(settings), headers: { "x-key": "k" } });
  });
});

describe("internal random value", () => {
  /** Upper 0.1 % points of the chi-square distribution by degrees of freedom. */
  const CHI_SQUARE_LIMIT = [0, 10.83, 13.82, 16.27, 18.47, 20.52, 22.46, 24.32, 26.12, 27.88];

  it.each([[[80, 20]], [[1, 1]], [[1, 2, 3, 4]], [[1, 1, 1, 1, 1, 1, 1, 1, 1, 1]]])(
    "spreads 20,000 requests by weights %j",
    (weights) => {
      const groups = [groupOf(...weights)];
      const spec = routeWith(settingsOf(groups));
      const counts = new Map<string, number>();
      for (let i = 0; i < 20_000; i++) {
        const cluster = walk(spec, groups)[0] ?? "";
        counts.set(cluster, (counts.get(cluster) ?? 0) + 1);
      }
      const total = weights.reduce((sum, weight) => sum + weight, 0);
      const terms = weights.map((weight, i) => {
        const expected = (20_000 * weight) / total;
        return ((counts.get(`c${i}`) ?? 0) - expected) ** 2 / expected;
      });
      expect(terms.reduce((sum, term) => sum + term, 0)).toBeLessThan(CHI_SQUARE_LIMIT[weights.length - 1] ?? 0);
    },
  );

  it("is the same for the same seed of the VM, and another for another", () => {
    const groups = [groupOf(1, 1, 1, 1)];
    const spec = routeWith(settingsOf(groups));
    const sequence = (seed: number) => {
      const seeded = WasmHost.load(MODULE, { seed });
      return Array.from({ length: 50 }, () => clusterOf(seeded.request(spec), groups, 1)).join();
    };
    expect(sequence(7)).toBe(sequence(7));
    expect(sequence(7)).not.toBe(sequence(8));
  });
});

describe("settings", () => {
  const good = settingsOf([groupOf(1, 1)]);
  const inGroup = (group: object) => ({ priority_group: { priority_groups: [group] } });
  const inCluster = (cluster: object) => inGroup({ name: "g", clusters: [cluster] });
  const weight = (value: unknown) => inCluster({ cluster_name: "a", weight: value });
  const WEIGHT =
    "priority_group.priority_groups[0].clusters[0].weight: expected a whole number from 1 to 4294967295, found";
  const policy = (value: object) => ({ ...good, hash_policy: [value] });

  /** Error lines that settings cause in a fresh VM, without their constant prefix. */
  function errorsOf(settings: object, requests = 1): string[] {
    const fresh = WasmHost.load(MODULE);
    const spec = routeWith(JSON.parse(JSON.stringify(settings)) as typeof good);
    for (let i = 0; i < requests; i++) expect(fresh.request(spec).slots).toEqual({});
    const prefix = `attempt_router: settings of route "${spec.routeName ?? ""}": `;
    return fresh.logs.map(({ level, message }) => `${level} ${message.replace(prefix, "")}`);
  }

  it.each<[string, object, string]>([
    ["no groups at all", {}, "priority_group: expected the route's priority groups, found nothing"],
    [
      "an empty list",
      { priority_group: { priority_groups: [] } },
      "priority_group.priority_groups: expected a list of at least one group, found an empty list",
    ],
    [
      "an empty group name",
      inGroup({ name: "", clusters: groupOf(1).clusters }),
      'priority_group.priority_groups[0].name: expected a string that is not empty, found ""',
    ],
    [
      "no clusters",
      inGroup({ name: "g" }),
      "priority_group.priority_groups[0].clusters: expected a list of at least one cluster, found nothing",
    ],
    [
      "an empty cluster name",
      inCluster({ cluster_name: "", weight: 1 }),
      'priority_group.priority_groups[0].clusters[0].cluster_name: expected a string that is not empty, found ""',
    ],
    ["weight 0", weight(0), `${WEIGHT} 0`],
    ["no weight", inCluster({ cluster_name: "a" }), `${WEIGHT} nothing`],
    ["a fractional weight", weight(1.5), `${WEIGHT} 1.5`],
    ["a weight past 32 bits", weight(4294967296), `${WEIGHT} 4294967296`],
    ["a negative weight", weight(-1), `${WEIGHT} -1`],
    ["a weight in words", weight("five"), `${WEIGHT} "five"`],
    ["weight true", weight(true), `${WEIGHT} true`],
    [
      "an unknown slot form",
      { ...good, slot_form: "TWO" },
      'slot_form: expected one of SLOT_PER_ATTEMPT, ONE_SLOT, HEADERS, found "TWO"',
    ],
    ["too many slots", { ...good, slots: 101 }, "slots: expected a whole number from 1 to 100, found 101"],
    [
      "a policy of no kind",
      policy({ terminal: true }),
      "hash_policy[0].policy_specifier: expected one of header, cookie, connection_properties, query_parameter, found 0 of them",
    ],
    [
      "a policy header without name",
      policy({ header: {} }),
      "hash_policy[0].header.header_name: expected a string that is not empty, found nothing",
    ],
    [
      "both random sources",
      settingsOf([groupOf(1)], { header_name: "x", use_hash_policy: true }),
      "priority_group.use_hash_policy: expected one random value source, found header_name beside it",
    ],
    [
      "a line break in header_name",
      settingsOf([groupOf(1)], { header_name: "x\ny" }),
      "priority_group.header_name: expected a header name without control characters, found one with",
    ],
  ])("reports %s with its path", (_name, settings, line) => {
    expect(errorsOf(settings)).toEqual([`error ${line}`]);
  });

  it("reports an unknown field", () => {
    expect(errorsOf({ ...good, colour: 1 })).toEqual([
      expect.stringMatching(/^error colour: expected one of the fields .*, found an unknown field$/),
    ]);
  });

  it("accepts a weight in decimal digits, as Envoy's YAML loader makes them", () => {
    expect(errorsOf(settingsOf([groupOf("4294967295")]))).toEqual([]);
  });

  it("reports and counts wrong settings once", () => {
    expect(errorsOf(weight(0), 5)).toHaveLength(1);
  });

  it("are read on the first request of a name only", () => {
    const fresh = WasmHost.load(MODULE);
    const spec = routeWith(settingsOf([groupOf(1), groupOf(1)]));
    const calls = [1, 2, 3].map(() => fresh.request(spec).hostCalls["proxy_get_property"]);
    expect(calls).toEqual([2, 1, 1]);
    // The same name keeps its settings even where the metadata is another.
    expect(fresh.request({ ...spec, routeMetadata: {} }).hostCalls["proxy_get_property"]).toBe(1);
  });

  it.each([
    "",
    "plain",
    "r@ar-00000000000000000123456789abcde",
    "r@ar-00000000000000000123456789abcdeg",
    "r@ar-00000000000000000123456789ABCDEF",
    "@ar-",
    "r@AR-0123456789abcdef",
  ])("are not looked for on route %j", (routeName) => {
    const request = host.request({ ...routeWith(good), routeName, headers: { "x-envoy-attempt-count": "2" } });
    expect([request.slots, request.headerChanges.removed]).toEqual([{}, []]);
    expect(Object.keys(request.hostCalls)).toEqual(["proxy_get_property"]);
  });

  it("are looked for by the virtual host's name without a route", () => {
    expect(host.request({ route: false }).hostCalls).toEqual({ proxy_get_property: 2 });
  });
});

describe("the client's x-envoy-attempt-count", () => {
  it.each<[string, string | string[]]>([
    ["1", "1"],
    ["empty", ""],
    ["twice", ["1", "9"]],
  ])("is removed: %s", (_name, value) => {
    const spec = routeWith(settingsOf([groupOf(1), groupOf(1)]));
    const request = host.request({ ...spec, headers: { "x-envoy-attempt-count": value } });
    expect(request.headerChanges).toEqual({ added: {}, changed: {}, removed: ["x-envoy-attempt-count"] });
    expect(request.routeCacheCleared).toBe(true);
  });
});

describe("ONE_SLOT", () => {
  const groups = [groupOf(1, 1, 1), groupOf(2, 1), groupOf(1)];
  const route = routeWith(settingsOf(groups, { header_name: "x-pick" }, { slot_form: "ONE_SLOT" }));

  it("rewrites the slot for the next attempt during each attempt", () => {
    for (let random = 0n; random < 12n; random++) {
      const request = host.request({ ...route, headers: { "x-pick": String(random) } });
      const clusters = [request.slots["cluster"] ?? "c0"];
      for (let attempt = 1; attempt < 5; attempt++) {
        request.attempt(attempt, { response: { status: 503 } });
        clusters.push(request.slots["cluster"] ?? "c0");
      }
      const expected = [0, 1, 2, 2, 2].map((i) => expectedPick(groups[i] ?? groupOf(), random));
      expect(clusters, `random ${random}`).toEqual(expected);
    }
  });

  it("keeps an internal value over the attempts", () => {
    const same = [groupOf(1, 1, 1), groupOf(1, 1, 1)];
    const spec = routeWith(settingsOf(same, {}, { slot_form: "ONE_SLOT" }));
    for (let i = 0; i < 60; i++) {
      const request = host.request(spec);
      const first = request.slots["cluster"] ?? "c0";
      request.attempt(1);
      expect(request.slots["cluster"]).toBe(first);
    }
  });
});

describe("robustness", () => {
  it("takes any header bytes", () => {
    let state = 123456789;
    const next = (limit: number) => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return (state >>> 8) % limit;
    };
    const bytes = (limit: number) => String.fromCharCode(...Array.from({ length: next(limit) }, () => next(256)));
    const groups = [groupOf(1, 2, 3)];
    const hash_policy = [
      { header: { header_name: "x-pick" } },
      { cookie: { name: "c" } },
      { query_parameter: { name: "q" } },
    ];
    const specs = [
      routeWith(settingsOf(groups, { header_name: "x-pick" })),
      routeWith(settingsOf(groups, { use_hash_policy: true }, { hash_policy })),
    ];
    for (let i = 0; i < 4000; i++) {
      const lines = Array.from({ length: next(4) }, () => bytes(5000));
      const headers = {
        "x-pick": lines,
        cookie: `${bytes(9)};c=${bytes(40)}`,
        ":path": `/${bytes(9)}?${bytes(9)}&q=${bytes(40)}`,
      };
      const picked = walk({ ...specs[i % 2], headers, sourceAddress: bytes(30) }, groups);
      expect(["c0", "c1", "c2"]).toContain(picked[0]);
    }
    expect(host.failure).toBeUndefined();
  });
});
