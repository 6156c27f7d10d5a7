// The sentences of the specification of route specifiers, each shown on a real Envoy.

import { describe, expect, test } from "vitest";
import { envoyVersions } from "../../tools/envoy/binary.js";
import { UPSTREAMS, audit, drop, fallbackTo, forHeader, run, specifier, tag } from "./specifier-runs.js";

const { versions } = await envoyVersions();
describe.each(versions)("Envoy %s: Configuration", (version) => {
  test("the levels run in this order: route configuration, virtual host of the resolved route, resolved route", async () => {
    const levels = { config: [tag("config")], host: [tag("host")], route: [tag("route")] };
    const [api] = await run(version, levels, [{ path: "/api" }]);
    expect(api?.headers["x-ran"]).toBe("config, host, route");
  });

  test("within a level the specifiers run in the order they are configured", async () => {
    const levels = { config: [tag("1"), tag("2")], host: [tag("3"), tag("4")], route: [tag("5"), tag("6")] };
    const [api] = await run(version, levels, [{ path: "/api" }]);
    expect(api?.headers["x-ran"]).toBe("1, 2, 3, 4, 5, 6");
  });

  test("the route that route matching resolved is the input of the first specifier", async () => {
    const [api, web] = await run(version, { config: [audit("x-config")] }, [{ path: "/api" }, { path: "/web" }]);
    expect(api?.headers["x-config"]).toBe("level=route_configuration virtual_host=local route=api cluster=api");
    expect(web?.headers["x-config"]).toBe("level=route_configuration virtual_host=local route=web cluster=web");
  });

  test("the output of each specifier is the input of the next, and the output of the last one is the final route", async () => {
    const to = (cluster: string) => specifier("RouteOverride", { cluster });
    const levels = {
      config: [to("other"), audit("x-config")],
      host: [to("web"), audit("x-host")],
      route: [to("more"), audit("x-route")],
    };
    const [api] = await run(version, levels, [{ path: "/api" }]);
    expect(api?.served).toBe("more");
    expect([api?.headers["x-config"], api?.headers["x-host"], api?.headers["x-route"]]).toEqual([
      "level=route_configuration virtual_host=local route=api cluster=other",
      "level=virtual_host virtual_host=local route=api cluster=web",
      "level=route virtual_host=local route=api cluster=more",
    ]);
  });

  test("a request that reaches /api runs audit, canary, slow_timeout, while one that reaches / runs only audit and canary", async () => {
    const canary = specifier("RouteOverride", { when: forHeader("x-canary"), cluster: "other" }, "canary");
    const slow = specifier("RouteOverride", { timeout: "0.3s" }, "slow_timeout");
    const levels = {
      config: [specifier("Audit", { log: true, counter: "all" }, "audit")],
      host: [canary],
      routes: [
        { match: { prefix: "/api" }, route: { cluster: "hang" }, route_specifiers: [slow] },
        { match: { prefix: "/" }, route: { cluster: "web" } },
      ],
    };
    const requests = [{ path: "/" }, { path: "/", headers: { "x-canary": 1 } }, { path: "/api" }];
    const upstreams = { upstreams: { ...UPSTREAMS, hang: "hang" as const } };
    const stats = ["wasmcustom.attempt_router.audit.all"];
    const [web, canaried, api] = await run(version, levels, requests, { ...upstreams, observe: { stats } });
    expect([web?.served, canaried?.served, api?.status]).toEqual(["web", "other", 504]);
    expect(api?.log).toContain("attempt_router: audit audit: level=route_configuration virtual_host=local route=-");
  });

  test("a request that matches no virtual host runs the route configuration level alone", async () => {
    const levels = { config: [audit("x-config")], host: [audit("x-host")], domains: ["case.test"] };
    const [none] = await run(version, levels, [{ path: "/api", headers: { host: "elsewhere" } }]);
    expect([none?.status, none?.flags, none?.details]).toEqual([404, "NR", "route_not_found"]);
    expect(none?.headers["x-config"]).toBe("level=route_configuration virtual_host=- route=- cluster=-");
    expect(none?.headers["x-host"]).toBeUndefined();
  });

  test("a request that matches a virtual host but none of its routes runs the route configuration and virtual host levels", async () => {
    const levels = { config: [audit("x-config")], host: [audit("x-host")], route: [audit("x-route")] };
    const [none] = await run(version, levels, [{ path: "/nowhere" }]);
    expect(none?.status).toBe(404);
    expect(none?.headers["x-config"]).toBe("level=route_configuration virtual_host=local route=- cluster=-");
    expect(none?.headers["x-host"]).toBe("level=virtual_host virtual_host=local route=- cluster=-");
    expect(none?.headers["x-route"]).toBeUndefined();
  });
});

describe.each(versions)("Envoy %s: Requests with no resolved route", (version) => {
  test("a specifier may generate a route for a request that matching resolved nothing for", async () => {
    const unresolved = { when: { route_resolved: false } };
    for (const level of ["config", "host"]) {
      const levels = { [level]: [fallbackTo("other", unresolved)] };
      const [none, api] = await run(version, levels, [{ path: "/nowhere" }, { path: "/api" }]);
      expect([none?.served, api?.served]).toEqual(["other", "api"]);
    }
  });

  test("one that matched no virtual host included", async () => {
    const levels = { config: [fallbackTo("other")], domains: ["case.test"] };
    const [none] = await run(version, levels, [{ headers: { host: "elsewhere" } }]);
    expect(none?.served).toBe("other");
  });

  test("a specifier may drop the route, and Envoy returns a 404 response", async () => {
    const levels = { host: [drop({ when: forHeader("x-drop") })] };
    const requests = [{ path: "/api", headers: { "x-drop": 1 } }, { path: "/api" }, { path: "/nowhere" }];
    const [dropped, kept, native] = await run(version, levels, requests);
    expect([dropped?.status, dropped?.body, dropped?.flags, dropped?.details, dropped?.hops]).toEqual([
      404,
      "",
      "NR",
      "route_not_found",
      [],
    ]);
    // Nothing but the date differs from Envoy's answer to a request that resolved nothing.
    expect({ ...dropped?.headers, date: "" }).toEqual({ ...native?.headers, date: "" });
    expect(kept?.served).toBe("api");
  });

  test("what one specifier dropped another may rescue", async () => {
    const levels = { config: [drop()], host: [fallbackTo("other")] };
    const [api] = await run(version, levels, [{ path: "/api" }]);
    expect(api?.served).toBe("other");
  });

  test("the route level only runs when that route resolved, whatever came out of the levels before", async () => {
    const levels = { config: [drop()], route: [fallbackTo("other")] };
    const [api, web] = await run(version, levels, [{ path: "/api" }, { path: "/web" }]);
    expect([api?.served, web?.status]).toEqual(["other", 404]);
  });
});

describe.each(versions)("Envoy %s: Ending the chain early", (version) => {
  test("neither the rest of its own level nor any of the levels after it runs", async () => {
    const levels = { config: [tag("1", { final: true }), tag("2")], host: [tag("3")], route: [tag("4")] };
    const [api] = await run(version, levels, [{ path: "/api" }]);
    expect(api?.headers["x-ran"]).toBe("1");
  });

  test("a specifier that did not apply ends nothing", async () => {
    const levels = { config: [tag("1", { final: true, when: forHeader("x-no") })], host: [tag("2")] };
    const [api] = await run(version, levels, [{ path: "/api" }]);
    expect(api?.headers["x-ran"]).toBe("2");
  });

  test("a fallback route for an unresolved request is kept from later specifiers", async () => {
    const levels = { config: [fallbackTo("other", { final: true })], host: [drop()] };
    const [none] = await run(version, levels, [{ path: "/nowhere" }]);
    expect(none?.served).toBe("other");
  });

  test("no route is final as well", async () => {
    const levels = { config: [drop({ final: true })], host: [fallbackTo("other")] };
    const [api] = await run(version, levels, [{ path: "/api" }]);
    expect([api?.status, api?.flags]).toEqual([404, "NR"]);
  });
});
