// Specifiers on routes with priority groups, in each form that these are lowered to.

import { describe, expect, test } from "vitest";
import { envoyVersions } from "../../tools/envoy/binary.js";
import type { LowerOptions } from "../../cli/lower.js";
import type { Config } from "../support/case.js";
import { group, priorityGroups } from "../support/config.js";
import { drop, forHeader, run, specifier, tag } from "./specifier-runs.js";

const { versions } = await envoyVersions();
const retry_policy = { retry_on: "5xx", num_retries: 2, refresh_cluster_on_retry: true };

describe.each(versions)("Envoy %s: a route's specifiers run where its priority groups", (version) => {
  const forms: [string, Config[], LowerOptions][] = [
    ["are one cluster", [group("api")], {}],
    ["are a cluster each", [group("bad"), group("api")], {}],
    ["become a route for each share", [group("bad", "bad"), group("api")], { splitWeights: true }],
    ["need the module", [group("bad", "bad"), group("api", "api")], {}],
  ];
  test.each(forms)("%s", async (_, groups, options) => {
    const action = { ...priorityGroups(groups), retry_policy };
    const specifiers = [drop({ when: forHeader("x-drop") }), tag("ran")];
    const routes = [{ match: { prefix: "/" }, name: "r", route: action, route_specifiers: specifiers }];
    const requests = [{}, { headers: { "x-drop": 1 } }];
    const [kept, dropped] = await run(version, { routes }, requests, {}, options);
    expect([kept?.served, kept?.headers["x-ran"], dropped?.status]).toEqual(["api", "ran", 404]);
  });
});

test.each(versions)(
  "Envoy %s falls back to a route with its picks where a template's match does not hold",
  async (version) => {
    const action = {
      ...priorityGroups([group("web", "bad"), group("web", "api")], { header_name: "x-pick" }),
      retry_policy,
    };
    const template = { match: { safe_regex: { regex: "/other.*" } }, route: { cluster: "other" } };
    const last = specifier("RouteTemplate", { template_id: "t", templates: [{ template_id: "t", route: template }] });
    const routes = [{ match: { prefix: "/" }, name: "r", route: action, route_specifiers: [last] }];
    const requests = ["/x", "/other"].map((path) => ({ path, headers: { "x-pick": 1 } }));
    const [own, other] = await run(version, { routes }, requests);
    expect([own?.hops, other?.hops]).toEqual([["bad", "api"], ["other"]]);
  },
);
