// Each field of the shipped specifiers, on a real Envoy.

import { describe, expect, test } from "vitest";
import { envoyVersions } from "../../tools/envoy/binary.js";
import { parse, stringify } from "yaml";
import type { Config } from "../support/case.js";
import { group, lua, priorityGroups, setMetadata } from "../support/config.js";
import { WASM } from "../support/lowering.js";
import { drop, fallbackTo, forHeader, run, specifier, tag, UPSTREAMS } from "./specifier-runs.js";

const { versions } = await envoyVersions();
const TYPE = "type.googleapis.com/envoy";

const override = (fields: Config): Config => specifier("RouteOverride", fields);
const route = (action: Config, specifiers: Config[] = [], more: Config = {}): Config => ({
  match: { prefix: "/" },
  name: "r",
  route: action,
  route_specifiers: specifiers,
  ...more,
});
const RETRIES = { retry_on: "5xx", num_retries: 2, refresh_cluster_on_retry: true };
const bad = { upstreams: { ...UPSTREAMS, bad: 503, worse: 503, worst: 503, limited: 429, hang: "hang" as const } };
/** The configuration without the HTTP filter of that name. */
function withoutFilter(config: string, name: string): string {
  const drop = (_: unknown, value: unknown): unknown =>
    Array.isArray(value) ? value.filter((item) => (item as Config | null)?.["name"] !== name) : value;
  return stringify(JSON.parse(JSON.stringify(parse(config), drop)), { aliasDuplicateObjects: false });
}

describe.each(versions)("Envoy %s: the cluster of a RouteOverride", (version) => {
  const served = async (fields: Config, headers: Record<string, string> = {}, more = {}) => {
    const [only] = await run(version, { routes: [route({ cluster: "api" }, [override(fields)])] }, [{ headers }], more);
    return only?.served ?? only?.flags;
  };

  test("is named", async () => {
    expect(await served({ cluster: "other" })).toBe("other");
  });

  test("is one of weighted clusters, by the request's value", async () => {
    const weighted_clusters = [
      { name: "api", weight: 0 },
      { name: "other", weight: 3 },
      { name: "web", weight: 0 },
    ];
    expect(await served({ weighted_clusters })).toBe("other");
  });

  test("comes from a header; without a value it stays; one that does not exist fails the request", async () => {
    const fields = { cluster_header: "x-to" };
    expect(await served(fields, { "x-to": "other" })).toBe("other");
    expect(await served(fields)).toBe("api");
    expect(await served(fields, { "x-to": "" })).toBe("api");
    expect(await served(fields, { "x-to": "nowhere" })).toBe("NC");
  });

  test("comes from metadata; without a value it stays; one that does not exist fails the request", async () => {
    const fields = { cluster_metadata: { namespace: "app", path: ["route", "cluster"] } };
    const by = (value: Config) => ({ http_filters: [setMetadata("app", value)] });
    expect(await served(fields, {}, by({ route: { cluster: "other" } }))).toBe("other");
    expect(await served(fields, {}, by({ route: "other" }))).toBe("api");
    expect(await served(fields, {}, by({ route: { cluster: "nowhere" } }))).toBe("NC");
  });

  test("wins over a retry's refresh: every attempt stays on it", async () => {
    const action = {
      weighted_clusters: {
        clusters: [
          { name: "api", weight: 1 },
          { name: "web", weight: 1 },
        ],
      },
      retry_policy: RETRIES,
    };
    const [only] = await run(version, { routes: [route(action, [override({ cluster: "bad" })])] }, [{}], bad);
    expect(only?.hops).toEqual(["bad", "bad", "bad"]);
  });

  test("does not reach the upstream as a header, and a client's header does not name it", async () => {
    const levels = { routes: [route({ cluster: "api" }, [override({ cluster: "other", when: forHeader("x-on") })])] };
    const forged = { "x-attempt-router-cluster": "web" };
    const [on, off] = await run(version, levels, [{ headers: { "x-on": 1, ...forged } }, { headers: forged }]);
    expect([on?.served, off?.served]).toEqual(["other", "api"]);
    expect(on?.upstream[0]).not.toHaveProperty("x-attempt-router-cluster");
  });
});

describe.each(versions)("Envoy %s: priority groups of a RouteOverride", (version) => {
  test("attempt n uses group n, and past the end the last one repeats", async () => {
    const groups = override({ priority_groups: [group("bad"), group("worse"), group("worst")] });
    const action = { cluster: "api", retry_policy: { ...RETRIES, num_retries: 3 } };
    const [only] = await run(version, { routes: [route(action, [groups])] }, [{}], bad);
    expect(only?.hops).toEqual(["bad", "worse", "worst", "worst"]);
  });

  test("a shorter chain than another specifier's stays on its own last group", async () => {
    const long = override({
      priority_groups: [group("bad"), group("worse"), group("worst")],
      when: forHeader("x-long"),
    });
    const short = override({ priority_groups: [group("worse"), group("bad")], when: forHeader("x-short") });
    const levels = { routes: [route({ cluster: "api", retry_policy: RETRIES }, [long, short])] };
    const requests = [{ headers: { "x-long": 1 } }, { headers: { "x-short": 1 } }, {}];
    const [first, second, none] = await run(version, levels, requests, bad);
    expect([first?.hops, second?.hops, none?.hops]).toEqual([
      ["bad", "worse", "worst"],
      ["worse", "bad", "bad"],
      ["api"],
    ]);
  });

  test("a request's metadata overrides them, unknown clusters fail", async () => {
    const fields = { priority_groups: [group("bad")], override_metadata_namespace: "app" };
    const levels = { routes: [route({ cluster: "api", retry_policy: RETRIES }, [override(fields)])] };
    const to = (name: string) => ({ ...bad, http_filters: [setMetadata("app", { priority_groups: [group(name)] })] });
    const [known] = await run(version, levels, [{}], to("worse"));
    const [unknown] = await run(version, levels, [{}], to("nowhere"));
    expect([known?.hops, unknown?.flags]).toEqual([["worse", "worse", "worse"], "NC"]);
  });

  test("a client's attempt count does not steer them", async () => {
    const groups = override({ priority_groups: [group("bad"), group("worse")] });
    const levels = { routes: [route({ cluster: "api", retry_policy: { ...RETRIES, num_retries: 1 } }, [groups])] };
    const [only] = await run(version, levels, [{ headers: { "x-envoy-attempt-count": 2 } }], bad);
    expect(only?.hops).toEqual(["bad", "worse"]);
  });

  test("a later override of the cluster takes their place, and the other way round", async () => {
    const groups = override({ priority_groups: [group("bad"), group("worse")] });
    const one = override({ cluster: "worst" });
    const action = { cluster: "api", retry_policy: RETRIES };
    const [cluster] = await run(version, { routes: [route(action, [groups, one])] }, [{}], bad);
    const [chain] = await run(version, { routes: [route(action, [one, groups])] }, [{}], bad);
    expect([cluster?.hops, chain?.hops]).toEqual([
      ["worst", "worst", "worst"],
      ["bad", "worse", "worse"],
    ]);
  });
});

describe.each(versions)("Envoy %s: time-outs and retries of a RouteOverride", (version) => {
  test("timeout replaces the route's; 0s is none", async () => {
    const action = { cluster: "hang", timeout: "5s" };
    const [short] = await run(version, { routes: [route(action, [override({ timeout: "0.1s" })])] }, [{}], bad);
    expect([short?.status, short?.details]).toEqual([504, "response_timeout"]);
    const none = route({ cluster: "api", timeout: "0.001s" }, [override({ timeout: "0s" })]);
    const [kept] = await run(version, { routes: [none] }, [{}]);
    expect([kept?.status, kept?.upstream[0]]).toEqual([
      200,
      expect.not.objectContaining({ "x-envoy-upstream-rq-timeout-ms": "0" }),
    ]);
  });

  test("retry_policy replaces the route's, with the cluster refreshed for each attempt", async () => {
    const chain = { priority_groups: [group("bad"), group("worse"), group("worst")] };
    const policy = { retry_policy: { retry_on: "5xx", num_retries: 3 } };
    const [only] = await run(
      version,
      { routes: [route({ cluster: "api" }, [override({ ...chain, ...policy })])] },
      [{}],
      bad,
    );
    expect(only?.hops).toEqual(["bad", "worse", "worst", "worst"]);
    expect(Object.keys(only?.upstream[0] ?? {}).filter((name) => /retr/.test(name))).toEqual([]);
  });

  test("retry_policy replaces the whole policy: no conditions are no retries", async () => {
    const action = { cluster: "bad", retry_policy: RETRIES };
    const policy = override({ retry_policy: { num_retries: 2 } });
    const [only] = await run(version, { routes: [route(action, [policy])] }, [{}], bad);
    expect(only?.hops).toEqual(["bad"]);
  });

  test("retriable_status_codes and per_try_timeout", async () => {
    const codes = override({
      retry_policy: { retry_on: "retriable-status-codes", num_retries: 1, retriable_status_codes: [429] },
    });
    const perTry = override({ retry_policy: { retry_on: "5xx", num_retries: 1, per_try_timeout: "0.6s" } });
    const [limited] = await run(version, { routes: [route({ cluster: "limited" }, [codes])] }, [{}], bad);
    const [slow] = await run(version, { routes: [route({ cluster: "hang" }, [perTry])] }, [{}], bad);
    expect([limited?.hops, slow?.hops, slow?.status]).toEqual([["limited", "limited"], ["hang", "hang"], 504]);
  });

  test("a route's own priority groups are walked by a specifier's retries", async () => {
    const inline = priorityGroups([group("bad"), group("worse"), group("api")]);
    const policy = override({ retry_policy: { retry_on: "5xx", num_retries: 2 }, when: forHeader("x-retry") });
    const requests = [{ headers: { "x-retry": 1 } }, {}];
    const [retried, plain] = await run(version, { routes: [route(inline, [policy])] }, requests, bad);
    expect([retried?.hops, plain?.hops]).toEqual([["bad", "worse", "api"], ["bad"]]);
  });

  test("a client's control headers matter as they do natively", async () => {
    const levels = {
      routes: [route({ cluster: "bad" }, [override({ retry_policy: { retry_on: "5xx", num_retries: 3 } })])],
    };
    const headers = { "x-envoy-max-retries": 1, "x-envoy-retry-on": "reset" };
    const [external] = await run(version, levels, [{ headers }], {
      ...bad,
      hcm: {
        use_remote_address: true,
        internal_address_config: { cidr_ranges: [{ address_prefix: "10.0.0.0", prefix_len: 8 }] },
      },
    });
    const [internal] = await run(version, levels, [{ headers }], {
      ...bad,
      hcm: {
        use_remote_address: true,
        internal_address_config: { cidr_ranges: [{ address_prefix: "127.0.0.0", prefix_len: 8 }] },
      },
    });
    expect([external?.hops.length, internal?.hops.length]).toEqual([4, 2]);
  });
});

describe.each(versions)("Envoy %s: header transforms of a RouteOverride", (version) => {
  const add = (key: string, value: string, append_action?: string): Config => ({
    header: { key, value },
    ...(append_action === undefined ? {} : { append_action }),
  });

  test("the four append actions, removals first, on requests and responses", async () => {
    const options = [
      add("x-append", "new"),
      add("x-absent", "new", "ADD_IF_ABSENT"),
      add("x-present", "new", "ADD_IF_ABSENT"),
      add("x-over", "new", "OVERWRITE_IF_EXISTS_OR_ADD"),
      add("x-exists", "new", "OVERWRITE_IF_EXISTS"),
      add("x-missing", "new", "OVERWRITE_IF_EXISTS"),
      add("x-percent", "100%%"),
    ];
    const sent = { "x-append": "old", "x-present": "old", "x-over": "old", "x-exists": "old", "x-gone": "old" };
    const transforms = {
      request_headers_to_add: options,
      request_headers_to_remove: ["x-gone"],
      response_headers_to_add: options,
      response_headers_to_remove: ["x-gone"],
    };
    const upstreams = { upstreams: { api: { status: 200, headers: sent } } };
    const [only] = await run(
      version,
      { routes: [route({ cluster: "api" }, [override(transforms)])] },
      [{ headers: sent }],
      upstreams,
    );
    const expected = { "x-absent": "new", "x-present": "old", "x-over": "new", "x-exists": "new", "x-percent": "100%" };
    expect(only?.upstream[0]).toMatchObject(expected);
    expect(only?.headers).toMatchObject({ ...expected, "x-append": "old, new" });
    for (const seen of [only?.upstream[0], only?.headers]) {
      expect(seen).not.toHaveProperty("x-missing");
      expect(seen).not.toHaveProperty("x-gone");
    }
  });

  test("are visible upstream once, not once per attempt", async () => {
    const transforms = { request_headers_to_add: [add("x-t", "once")] };
    const [only] = await run(
      version,
      { routes: [route({ cluster: "bad", retry_policy: RETRIES }, [override(transforms)])] },
      [{}],
      bad,
    );
    expect(only?.upstream.map((headers) => headers["x-t"])).toEqual(["once", "once", "once"]);
  });

  test("of the response are applied after the route's own, of the request before them", async () => {
    const transforms = {
      request_headers_to_add: [add("x-t", "specifier")],
      response_headers_to_add: [add("x-t", "specifier")],
    };
    const own = { request_headers_to_add: [add("x-t", "route")], response_headers_to_add: [add("x-t", "route")] };
    const [only] = await run(version, { routes: [route({ cluster: "api" }, [override(transforms)], own)] }, [{}]);
    expect(only?.headers["x-t"]).toBe("route, specifier");
    expect(only?.lines[0]?.filter((line) => line.startsWith("x-t"))).toEqual(["x-t: specifier", "x-t: route"]);
  });

  test("of the response are applied to Envoy's own answers too", async () => {
    const transforms = { response_headers_to_add: [add("x-t", "specifier")], cluster_header: "x-to" };
    const levels = { routes: [route({ cluster: "api" }, [override(transforms)])] };
    const [only] = await run(version, levels, [{ headers: { "x-to": "nowhere" } }]);
    expect([only?.status, only?.headers["x-t"]]).toEqual([503, "specifier"]);
  });
});

describe.each(versions)("Envoy %s: RouteTemplate", (version) => {
  const template = (native: Config, fields: Config = {}): Config =>
    specifier("RouteTemplate", { template_id: "t", templates: [{ template_id: "t", route: native }], ...fields });

  test("keeps all native fields", async () => {
    const native = {
      match: { prefix: "/" },
      route: { cluster: "other", prefix_rewrite: "/rewritten/", retry_policy: RETRIES },
      request_headers_to_add: [{ header: { key: "x-template", value: "%REQ(:METHOD)%" } }],
    };
    const [only] = await run(version, { routes: [route({ cluster: "api" }, [template(native)])] }, [{ path: "/x" }]);
    expect([only?.served, only?.paths, only?.upstream[0]?.["x-template"]]).toEqual(["other", ["/rewritten/x"], "GET"]);
  });

  test("may redirect or answer itself, which a later override leaves as it is", async () => {
    const answer = { match: { prefix: "/" }, direct_response: { status: 299, body: { inline_string: "t" } } };
    const levels = { routes: [route({ cluster: "api" }, [template(answer), override({ cluster: "other" })])] };
    const [only] = await run(version, levels, [{}]);
    expect([only?.status, only?.body]).toEqual([299, "t"]);
    const redirect = { match: { prefix: "/" }, redirect: { path_redirect: "/new" } };
    const [moved] = await run(version, { routes: [route({ cluster: "api" }, [template(redirect)])] }, [{}]);
    expect([moved?.status, moved?.headers["location"]]).toEqual([301, "http://case.test/new"]);
  });

  test("a later override wraps the template", async () => {
    const native = {
      match: { prefix: "/" },
      route: { cluster: "other" },
      response_headers_to_add: [{ header: { key: "x-template", value: "t" } }],
    };
    const [only] = await run(
      version,
      { routes: [route({ cluster: "api" }, [template(native), override({ cluster: "web" })])] },
      [{}],
    );
    expect([only?.served, only?.headers["x-template"]]).toEqual(["web", "t"]);
  });

  test("an override before it is gone with the route that it belonged to", async () => {
    const native = { match: { prefix: "/" }, route: { cluster: "other" } };
    const [only] = await run(
      version,
      { routes: [route({ cluster: "api" }, [tag("gone", { cluster: "web" }), template(native)])] },
      [{}],
    );
    expect([only?.served, only?.headers["x-ran"]]).toEqual(["other", undefined]);
  });

  test("its match must hold, else the route it was given", async () => {
    for (const match of [
      { prefix: "/yes" },
      { path: "/yes" },
      { path_separated_prefix: "/yes" },
      { prefix: "/", headers: [{ name: ":path", string_match: { prefix: "/yes" } }] },
      { prefix: "/", headers: [{ name: ":path", prefix_match: "/yes" }] },
      { prefix: "/", query_parameters: [{ name: "q", string_match: { exact: "yes" } }] },
      { prefix: "/YES", case_sensitive: false },
      { path: "/Yes", case_sensitive: false },
      { path_separated_prefix: "/yeS", case_sensitive: false },
    ]) {
      const levels = {
        routes: [route({ cluster: "api" }, [template({ match, route: { cluster: "other" } }), tag("after")])],
      };
      const requests = [{ path: "/yes?q=yes" }, { path: "/no" }];
      const [yes, no] = await run(version, levels, requests);
      expect([match, yes?.served, yes?.headers["x-ran"]]).toEqual([match, "other", "after"]);
      expect([match, no?.served, no?.headers["x-ran"]]).toEqual([match, "api", "after"]);
    }
  });

  test("a match that only Envoy can evaluate must hold, too", async () => {
    for (const match of [
      { safe_regex: { regex: "/yes.*" } },
      { prefix: "/", query_parameters: [{ name: "q", string_match: { safe_regex: { regex: "yes" } } }] },
    ]) {
      const levels = { routes: [route({ cluster: "api" }, [template({ match, route: { cluster: "other" } })])] };
      const [yes, no] = await run(version, levels, [{ path: "/yes?q=yes" }, { path: "/no" }]);
      expect([match, yes?.served, no?.served]).toEqual([match, "other", "api"]);
    }
  });

  test("a match that only Envoy can evaluate leaves no route where there was none", async () => {
    const native = { match: { safe_regex: { regex: "/yes.*" } }, route: { cluster: "other" } };
    const levels = { host: [drop(), template(native)] };
    const [yes, no] = await run(version, levels, [{ path: "/yes" }, { path: "/api" }]);
    expect([yes?.served, no?.status]).toEqual(["other", 404]);
  });

  test("its path is matched as the route configuration says, parameters cut off", async () => {
    const template = { match: { path: "/p/admin" }, name: "t", route: { cluster: "other" } };
    const specifiers = [
      specifier("RouteTemplate", { template_id: "t", templates: [{ template_id: "t", route: template }] }),
    ];
    const fields = { ignore_path_parameters_in_path_matching: true };
    const requests = ["/p/admin", "/p/admin;x", "/p/admin;x=1?y", "/p/admins", "/p;x/admin"].map((path) => ({ path }));
    const results = await run(version, { routes: [route({ cluster: "api" }, specifiers)], fields }, requests);
    expect(results.map(({ served }) => served)).toEqual(["other", "other", "other", "api", "other"]);
  });

  test("may have priority groups of its own", async () => {
    const groups = [group("bad", "worse"), group("worst", "bad"), group("api", "other")];
    const native = {
      match: { prefix: "/" },
      route: { ...priorityGroups(groups, { header_name: "x-pick" }), retry_policy: RETRIES },
    };
    const levels = { host: [template(native)] };
    const requests = [{ headers: { "x-pick": 0 } }, { path: "/nowhere", headers: { "x-pick": 1 } }];
    const [first, second] = await run(version, levels, requests, bad);
    expect([first?.hops, second?.hops]).toEqual([
      ["bad", "worst", "api"],
      ["worse", "bad", "other"],
    ]);
  });
});

describe.each(versions)("Envoy %s: where no specifier applies", (version) => {
  test("the original route serves exactly as before", async () => {
    const never = [
      override({ cluster: "other", timeout: "1s", when: forHeader("x-never") }),
      drop({ when: forHeader("x-never") }),
    ];
    const routes = [
      {
        ...route({ weighted_clusters: { clusters: [{ name: "web", weight: 1 }] } }, never),
        match: { path: "/weighted" },
      },
      { ...route({ cluster_header: "x-to" }, never), match: { path: "/header" } },
      { match: { path: "/redirect" }, redirect: { path_redirect: "/new" }, route_specifiers: never },
      { match: { path: "/direct" }, direct_response: { status: 299 }, route_specifiers: never },
      { ...route({ cluster: "api", prefix_rewrite: "/r" }, never), match: { prefix: "/rewrite" } },
    ];
    const requests = [
      { path: "/weighted" },
      { path: "/header", headers: { "x-to": "other" } },
      { path: "/redirect" },
      { path: "/direct" },
      { path: "/rewrite/x" },
    ];
    const [weighted, header, redirect, direct, rewritten] = await run(version, { routes }, requests);
    expect([weighted?.served, header?.served, redirect?.status, direct?.status, rewritten?.paths]).toEqual([
      "web",
      "other",
      301,
      299,
      ["/r/x"],
    ]);
  });

  test("redirects and direct responses are returned unchanged by an override that applies, and can be dropped", async () => {
    const routes = [
      {
        match: { path: "/direct" },
        direct_response: { status: 299 },
        route_specifiers: [override({ cluster: "other" })],
      },
      { match: { path: "/drop" }, direct_response: { status: 299 }, route_specifiers: [drop()] },
      { match: { path: "/fall" }, direct_response: { status: 299 }, route_specifiers: [drop(), fallbackTo("web")] },
    ];
    const [direct, dropped, fallen] = await run(version, { routes }, [
      { path: "/direct" },
      { path: "/drop" },
      { path: "/fall" },
    ]);
    expect([direct?.status, dropped?.status, fallen?.served]).toEqual([299, 404, "web"]);
  });

  test("an override keeps the rest of the route: rewrites, transforms, filters' settings", async () => {
    const own = { request_headers_to_add: [{ header: { key: "x-own", value: "kept" } }] };
    const rewriting = {
      ...route({ cluster: "api", prefix_rewrite: "/r" }, [override({ cluster: "other" })], own),
      match: { prefix: "/api" },
    };
    const [only] = await run(version, { routes: [rewriting] }, [{ path: "/api/x" }]);
    expect([only?.served, only?.paths, only?.upstream[0]?.["x-own"]]).toEqual(["other", ["/r/x"], "kept"]);
  });
});

describe.each(versions)("Envoy %s: an internal redirect", (version) => {
  const redirecting = {
    upstreams: { ...UPSTREAMS, api: { status: 302, headers: { location: "http://case.test/to" } } },
  };
  const policy = { internal_redirect_policy: { redirect_response_codes: [302] } };
  const from = (specifiers: Config[]): Config => ({
    ...route({ cluster: "web", ...policy }, specifiers, { name: "from" }),
    match: { prefix: "/from" },
  });
  const to = { match: { prefix: "/to" }, name: "to", route: { cluster: "other" } };
  const first = override({ cluster: "api" });

  test("leaves the route that a specifier changed, and is given to the specifiers of its own", async () => {
    const routes = [from([first]), { ...to, route_specifiers: [override({ cluster: "more" })] }];
    const [only] = await run(version, { routes }, [{ path: "/from" }], redirecting);
    expect([only?.status, only?.hops]).toEqual([200, ["api", "more"]]);
  });

  test("is not passed on where it leads nowhere, once a specifier has changed the route", async () => {
    const [only] = await run(version, { routes: [from([first])] }, [{ path: "/from" }], redirecting);
    expect([only?.status, only?.hops]).toEqual([404, ["api"]]);
  });
});

describe.each(versions)("Envoy %s: after other filters", (version) => {
  const change = "h:headers():replace('x-kind', 'changed')";
  const matched = { match: { prefix: "/", headers: [{ name: "x-kind", string_match: { exact: "first" } }] } };
  const requests = [{ headers: { "x-kind": "first" } }];

  test("an override stays on the route that was matched, whatever they did to the headers since", async () => {
    const first = { ...route({ cluster: "api" }, [tag("on the first", { timeout: "9s" })]), ...matched };
    const levels = { routes: [first, route({ cluster: "web" })] };
    const filters = { http_filters: [lua(`function envoy_on_request(h) ${change} end`)] };
    const [only] = await run(version, levels, requests, filters);
    expect([only?.served, only?.headers["x-ran"]]).toEqual(["api", "on the first"]);
  });

  test("the route that is current when the module runs is given to the specifiers", async () => {
    const first = { ...route({ cluster: "api" }, [tag("first")]), ...matched };
    const levels = { routes: [first, route({ cluster: "web" }, [tag("second")])] };
    const filters = { http_filters: [lua(`function envoy_on_request(h) ${change} h:clearRouteCache() end`)] };
    const [only] = await run(version, levels, requests, filters);
    expect([only?.served, only?.headers["x-ran"]]).toEqual(["web", "second"]);
  });

  test("a pinned route with priority groups keeps its own chain under an override of something else", async () => {
    const groups = [group("bad", "worse"), group("api", "other")];
    const inline = { ...priorityGroups(groups, { header_name: "x-pick" }), retry_policy: RETRIES };
    const first = { ...route(inline, [tag("t", { when: forHeader("x-tag") })]), ...matched };
    const levels = { routes: [first, route({ cluster: "web" })] };
    const filters = { ...bad, http_filters: [lua(`function envoy_on_request(h) ${change} end`)] };
    const pick = { "x-kind": "first", "x-pick": 1 };
    const both = [{ headers: pick }, { headers: { ...pick, "x-tag": 1 } }];
    const [plain, tagged] = await run(version, levels, both, filters);
    expect([plain?.hops, tagged?.hops, tagged?.headers["x-ran"]]).toEqual([
      ["worse", "other"],
      ["worse", "other"],
      "t",
    ]);
  });
});

describe.each(versions)("Envoy %s: composite clusters", (version) => {
  const composite = {
    name: "k",
    connect_timeout: "1s",
    lb_policy: "CLUSTER_PROVIDED",
    cluster_type: {
      name: "envoy.clusters.composite",
      typed_config: {
        "@type": `${TYPE}.extensions.clusters.composite.v3.ClusterConfig`,
        clusters: [{ name: "bad" }, { name: "api" }],
      },
    },
  };

  test("of a route and of a template are walked under specifiers", async () => {
    const action = { cluster: "k", retry_policy: { retry_on: "5xx", num_retries: 2 } };
    const native = { match: { prefix: "/" }, route: action };
    const template = specifier("RouteTemplate", { template_id: "t", templates: [{ template_id: "t", route: native }] });
    const routes = [
      { ...route(action, [tag("t")]), match: { path: "/route" } },
      { ...route({ cluster: "web" }, [template]), match: { path: "/template" } },
    ];
    const requests = [{ path: "/route" }, { path: "/template" }];
    const [own, instead] = await run(version, { routes }, requests, { ...bad, extra_clusters: [composite] });
    expect([own?.hops, own?.headers["x-ran"], instead?.hops]).toEqual([["bad", "api"], "t", ["bad", "api"]]);
  });
});

describe.each(versions)("Envoy %s: without the module", (version) => {
  const levels = { routes: [route({ cluster: "api" }, [override({ cluster: "other" })])] };

  test("the original route serves where the module is absent", async () => {
    const [only] = await run(version, levels, [{}], {}, {}, (config) => withoutFilter(config, "attempt_router"));
    expect(only?.served).toBe("api");
  });

  test("the original route serves where the module has trapped", async () => {
    const wasm = WASM.replace("attempt-router.wasm", "debug.wasm");
    const requests = [{}, { headers: { "x-attempt-router-trap": 1 } }, {}];
    const [before, trapped, after] = await run(version, levels, requests, {}, { wasm });
    expect([before?.served, trapped?.status, after?.served]).toEqual(["other", 503, "api"]);
  });
});

describe.each(versions)("Envoy %s: security order", (version) => {
  const denyAll = { rules: { action: "ALLOW", policies: {} } };
  const rbac = {
    name: "envoy.filters.http.rbac",
    typed_config: { "@type": `${TYPE}.extensions.filters.http.rbac.v3.RBAC` },
  };
  const denied = {
    typed_per_filter_config: {
      "envoy.filters.http.rbac": { "@type": `${TYPE}.extensions.filters.http.rbac.v3.RBACPerRoute`, rbac: denyAll },
    },
  };

  test("an override of the cluster cannot bypass a per-route RBAC policy", async () => {
    const levels = { routes: [route({ cluster: "api" }, [override({ cluster: "other" })], denied)] };
    const [only] = await run(version, levels, [{}], { http_filters: [rbac] });
    expect([only?.status, only?.hops]).toEqual([403, []]);
  });

  test("filters before the module ran with the original route, not with a template", async () => {
    const deniedTemplate = specifier("RouteTemplate", {
      template_id: "t",
      templates: [{ template_id: "t", route: { match: { prefix: "/" }, route: { cluster: "other" }, ...denied } }],
    });
    const levels = { routes: [route({ cluster: "api" }, [deniedTemplate])] };
    const [only] = await run(version, levels, [{}], { http_filters: [rbac] });
    expect(only?.served).toBe("other");
  });

  test("placed before such a filter, the module lets it run with the template", async () => {
    const deniedTemplate = specifier("RouteTemplate", {
      template_id: "t",
      templates: [{ template_id: "t", route: { match: { prefix: "/" }, route: { cluster: "other" }, ...denied } }],
    });
    const levels = { routes: [route({ cluster: "api" }, [deniedTemplate])] };
    const [only] = await run(version, levels, [{}], { http_filters: [rbac] }, { placeBefore: rbac.name });
    expect([only?.status, only?.hops]).toEqual([403, []]);
    const kept = { routes: [route({ cluster: "api" }, [override({ cluster: "other" })], denied)] };
    const [still] = await run(version, kept, [{}], { http_filters: [rbac] }, { placeBefore: rbac.name });
    expect([still?.status, still?.hops]).toEqual([403, []]);
  });
});
