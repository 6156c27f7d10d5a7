import { describe, expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { TYPE } from "../../cli/lower/types.js";
import type { Config } from "../support/case.js";
import { group, priorityGroups } from "../support/config.js";
import { lowered } from "../support/lowering.js";

interface Filter {
  name: string;
  disabled?: boolean;
  typed_config: object;
}

interface Manager {
  http_filters: Filter[];
  upgrade_configs?: { filters: Filter[] }[];
  route_config: { virtual_hosts: { routes: object[] }[] };
}

const ROUTER: Filter = { name: "router", typed_config: { "@type": TYPE.router } };
const SINGLE = [group("a"), group("b"), group("c")];
const STARTED = "attempt_router_started";

/** A filter that may select the route again. */
function other(name: string): Filter {
  return { name, typed_config: { "@type": TYPE.lua } };
}

function chain(path: string, ...groups: Config[]): object {
  return { match: { path }, route: priorityGroups(groups) };
}

function bootstrap(manager: object): object {
  const typed_config = { "@type": TYPE.connectionManager, stat_prefix: "ingress", ...manager };
  const listener = { name: "l", filter_chains: [{ filters: [{ name: "hcm", typed_config }] }] };
  const clusters = ["a", "b", "c"].map((name) => ({ name, connect_timeout: "1s" }));
  return { static_resources: { listeners: [listener], clusters } };
}

/** Lowers a file with a single connection manager. */
function lowerManager(manager: object): Manager {
  const output = parse(lowered(stringify(bootstrap(manager)), "marks.yaml")) as {
    static_resources: { listeners: { filter_chains: { filters: { typed_config: Manager }[] }[] }[] };
  };
  const found = output.static_resources.listeners[0]?.filter_chains[0]?.filters[0]?.typed_config;
  if (found === undefined) throw new Error("the output has the connection manager of the input");
  return found;
}

/** A lowered connection manager of one chain, as somebody finds it who edits it. */
function loweredManager(http_filters: Filter[]): Manager {
  const route_config = { virtual_hosts: [{ name: "all", domains: ["*"], routes: [chain("/old", ...SINGLE)] }] };
  return lowerManager({ http_filters, route_config });
}

function addRoute({ route_config }: Manager, route: object): void {
  route_config.virtual_hosts[0]?.routes.push(route);
}

function shapeOf(filters: Filter[] | undefined): string[] | undefined {
  return filters?.map(({ name, disabled }) => (disabled === true ? `${name}, disabled` : name));
}

// A request that a filter moves to a chain must meet the mark, and none may be moved once it is there.
describe.each(["nothing else to lower", "a chain to lower"])("a lowered file that was edited, with %s", (more) => {
  const again = (manager: Manager): Manager => {
    if (more === "a chain to lower") addRoute(manager, chain("/new", ...SINGLE));
    return lowerManager(manager);
  };

  test("has the mark on for all routes once a filter stands before it", () => {
    const manager = loweredManager([ROUTER]);
    expect(shapeOf(manager.http_filters)).toEqual([`${STARTED}, disabled`, "router"]);
    manager.http_filters.unshift(other("first"));
    expect(shapeOf(again(manager).http_filters)).toEqual(["first", STARTED, "router"]);
  });

  test("has the mark last before the router", () => {
    const manager = loweredManager([other("first"), ROUTER]);
    expect(shapeOf(manager.http_filters)).toEqual(["first", STARTED, "router"]);
    manager.http_filters.splice(2, 0, other("second"));
    expect(shapeOf(again(manager).http_filters)).toEqual(["first", "second", STARTED, "router"]);
  });

  test("has the mark in the filter chains of upgrades, too", () => {
    const manager = loweredManager([ROUTER]);
    const [mark] = manager.http_filters;
    manager.upgrade_configs = [{ filters: [mark as Filter, other("upgrade"), ROUTER] }, { filters: [ROUTER] }];
    const { http_filters, upgrade_configs } = again(manager);
    expect(shapeOf(http_filters)).toEqual([STARTED, "router"]);
    expect(upgrade_configs?.map(({ filters }) => shapeOf(filters))).toEqual([
      ["upgrade", STARTED, "router"],
      [STARTED, "router"],
    ]);
  });

  test("keeps a mark that serves as it is", () => {
    const manager = loweredManager([ROUTER]);
    const before = structuredClone(manager.http_filters);
    expect(again(manager).http_filters).toEqual(before);
  });
});

test("the module goes before a mark that is there", () => {
  const manager = loweredManager([other("first"), ROUTER]);
  addRoute(manager, chain("/weighted", group("a", "b"), group("c")));
  const names = shapeOf(lowerManager(manager).http_filters);
  expect(names).toEqual(["first", "attempt_router_resolve", "attempt_router", STARTED, "router"]);
});

test("a lowered file with a filter before those of single chains is refused", () => {
  const weighted = chain("/weighted", group("a", "b"), group("c"));
  const route_config = { virtual_hosts: [{ name: "all", domains: ["*"], routes: [weighted] }] };
  const manager = lowerManager({ http_filters: [ROUTER], route_config });
  expect(shapeOf(manager.http_filters)).toEqual(["attempt_router, disabled", "router"]);
  expect(lowerManager(manager)).toEqual(manager);
  manager.http_filters.unshift(other("first"));
  expect(() => lowerManager(manager)).toThrow(/http_filters\[1\]: .* lower the native file/);
});
