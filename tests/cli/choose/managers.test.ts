// The tables of connection managers by plain facts: each rule declines for its reason.

import { expect, test } from "vitest";
import { chooseForManager, type ManagerFacts } from "../../../cli/choose/managers.js";
import { TYPE } from "../../../cli/lower/types.js";
import type { ConnectionManager } from "../../../cli/model/program.js";
import type { RouteConfiguration } from "../../../cli/model/route.js";
import { readProgram } from "../../../cli/read/program.js";
import { managersOf } from "../../../cli/model/program.js";
import { AT, group, reason, route } from "./facts.js";

/** Needs the module: what could go without leaves nothing to decide here. */
const WEIGHTED = {
  ...route([group("g1", { a: 80, b: 20 }), group("g2", { c: 1 })]),
  unsplittable: reason("unsplittable"),
};
const SINGLE = route([group("g1", { a: 1 }), group("g2", { b: 1 })]);
const ROUTER = { name: "router", typed_config: { "@type": TYPE.router } };
const EARLIER = { name: "lua", typed_config: { "@type": TYPE.lua } };

function manager(more: object = {}, config: object = {}): ConnectionManager {
  const routes = { name: "r", virtual_hosts: [{ name: "v", domains: ["*"], routes: [] }], ...config };
  const typed_config = { "@type": TYPE.connectionManager, http_filters: [ROUTER], route_config: routes, ...more };
  const listener = { name: "l", filter_chains: [{ filters: [{ name: "hcm", typed_config }] }] };
  const [found] = managersOf(readProgram("in.json", JSON.stringify({ static_resources: { listeners: [listener] } })));
  if (found === undefined) throw new Error("the file has a connection manager");
  return found;
}

function outside(): ConnectionManager {
  const one = manager();
  return { ...one, routeConfigurations: one.routeConfigurations.map((config) => ({ ...config, inside: false })) };
}

const FACTS: ManagerFacts = {
  manager: manager(),
  routes: [WEIGHTED],
  placeBefore: undefined,
  fromBootstrap: true,
  everyCluster: undefined,
  shared: undefined,
  watches: undefined,
};
const [CONFIG] = FACTS.manager.routeConfigurations as [RouteConfiguration];

const SPECIFIERS = { route_specifiers: [{ name: "s", typed_config: { "@type": "x/attempt_router.v1.DropRoute" } }] };
const SPECIFIED = { metadata: { filter_metadata: { attempt_router: { route_specifiers: [] } } } };
const DISABLED = { typed_per_filter_config: { attempt_router: { "@type": TYPE.filterConfig, disabled: true } } };
const PLACED = "the module has been given a place";
const MOVES = "the filter lua may select the route again";

/** Facts, why one filter serves all routes, and why none marks that the router has begun, where that is another reason. */
const ROWS: [string, Partial<ManagerFacts>, string | undefined, string?][] = [
  ["nothing", {}, undefined],
  ["another file than a bootstrap", { fromBootstrap: false }, "the listener does not stand in a bootstrap"],
  ["a shared table", { shared: CONFIG }, "several connection managers take the route configuration"],
  ["RDS", { manager: { ...manager(), dynamicRoutes: true } }, "routes of the connection manager come by RDS or SRDS"],
  ["--place-before", { placeBefore: "lua", manager: manager({ http_filters: [EARLIER, ROUTER] }) }, PLACED],
  ["an earlier filter", { manager: manager({ http_filters: [EARLIER, ROUTER] }) }, MOVES],
  [
    "a filter chain that was lowered before",
    { manager: manager({ http_filters: [{ name: "attempt_router", typed_config: { "@type": TYPE.wasm } }, ROUTER] }) },
    "the filter chain was lowered before",
  ],
  [
    "an upgrade with filters",
    { manager: manager({ upgrade_configs: [{ upgrade_type: "websocket", filters: [ROUTER] }] }) },
    "the upgrade websocket has filters of its own",
  ],
  ["VHDS", { manager: manager({}, { vhds: {} }) }, "virtual hosts come by VHDS"],
  ["route specifiers", { manager: manager({}, SPECIFIERS) }, "route specifiers may change the route"],
  ["route specifiers, lowered", { manager: manager({}, SPECIFIED) }, "route specifiers may change the route"],
  ["a filter by its name", { manager: manager({}, DISABLED) }, "the filter attempt_router is configured by its name"],
  ["routes that stand elsewhere", { manager: outside() }, "the routes do not stand in their connection manager"],
  ["a choice of clusters by header", { routes: [{ ...WEIGHTED, byHeader: reason("header") }] }, "header"],
  ["a count that cannot be used", { routes: [{ ...WEIGHTED, countUnusable: reason("count") }] }, "count"],
  ["a route that would move", { routes: [{ ...WEIGHTED, pinned: reason("moves") }] }, "moves"],
  ["metadata that is read again", { routes: [{ ...WEIGHTED, readsPerAttempt: reason("reads") }] }, "reads"],
  ["answers that are looked at", { routes: [{ ...WEIGHTED, watchesAnswers: reason("watches") }] }, "watches"],
  ["clusters that are skipped", { routes: [{ ...WEIGHTED, skips: reason("skips") }] }, "skips"],
  [
    "composite clusters",
    { routes: [{ ...WEIGHTED, settings: { ...WEIGHTED.settings, composite_clusters: [] } }] },
    "a route leads to composite clusters",
  ],
  ["many settings", { routes: many(17) }, "there are 17 distinct settings, more than 16"],
  ["as many settings as there may be", { routes: many(16) }, undefined],
];

test.each(ROWS)("with %s", (_, facts, because) => {
  const { sharedFilter, unmarked } = chooseForManager({ ...FACTS, ...facts });
  expect([sharedFilter?.because, unmarked?.because]).toEqual([because, because]);
});

test.each(["everyCluster", "watches"] as const)("%s asks for one filter, and leaves the mark", (name) => {
  const { sharedFilter, unmarked } = chooseForManager({ ...FACTS, [name]: reason(name) });
  expect([sharedFilter?.because, unmarked]).toEqual([name, undefined]);
});

test("where no route needs the module, filters before it and its place are no obstacle to the mark", () => {
  const earlier = manager({ http_filters: [EARLIER, ROUTER] });
  for (const facts of [{ manager: earlier }, { placeBefore: "router" }, { fromBootstrap: false }]) {
    expect(chooseForManager({ ...FACTS, routes: [SINGLE], ...facts }).unmarked).toBeUndefined();
  }
});

test.each([
  ["an earlier filter", { manager: manager({ http_filters: [EARLIER, ROUTER] }) }, MOVES],
  ["a place", { placeBefore: "router" }, PLACED],
  ["route specifiers", { manager: manager({}, SPECIFIERS) }, "route specifiers may change the route"],
  ["nothing", {}, undefined],
])("a request moves because of %s", (_, facts, because) => {
  expect(chooseForManager({ ...FACTS, ...facts }).moves?.because).toBe(because);
});

function many(count: number) {
  return Array.from({ length: count }, (_, index) => ({
    ...WEIGHTED,
    at: AT,
    settings: { ...WEIGHTED.settings, index },
  }));
}
