// What `lower` chose, and why: `lower --report`.

import { clearsRoute } from "../choose/moving-filters.js";
import type { Choice, Reason } from "../choose/delivery.js";
import type { ManagerChoice } from "../choose/managers.js";
import { chainsOf } from "../choose/filter-chain.js";
import type { Origin } from "../model/origin.js";
import type { ConnectionManager } from "../model/program.js";
import type { Level, Route, RouteConfiguration, VirtualHost } from "../model/route.js";
import { cursorAt } from "../read/place.js";
import type { ChosenForm, CompositeForm } from "./composite-form.js";
import { HOLD_FILTER } from "./hold/filters.js";
import { DOWNSTREAM_FILTER, RESOLVE_FILTER, STARTED_FILTER, UPSTREAM_FILTER } from "./types.js";
import type { UpstreamPlace } from "./upstream-wiring.js";
import type { ModuleUse } from "./wiring.js";

/** A reason with the place that decides it. */
export interface ReportedReason extends Origin {
  because: string;
}

interface NamedRoute extends Origin {
  virtual_host: string;
  /** "" for a route without name. */
  route: string;
}

/** One route with priority groups or a composite cluster. */
export interface ReportedRoute extends NamedRoute {
  form: Choice["form"];
  /** How its composite clusters are delivered; null where it meets none. */
  composites: { form: CompositeForm; because: string } | null;
  /** Each cheaper form, and why the route did not get it. */
  declined: (ReportedReason & { form: Choice["form"] })[];
  /** How many aggregates let attempts pass over clusters without a healthy host (`skip_clusters_without_hosts`). */
  stand_ins: number;
  /** Whether clusters are left out for a while after some answers (`cool_down`). */
  cool_down: boolean;
}

/** A route that has neither. */
export interface OtherRoute extends NamedRoute {
  /** What is lowered for it all the same; empty where the route is left alone. */
  only: ("route_specifiers" | "hold_response")[];
}

/** One connection manager. */
export interface ReportedManager extends Origin {
  listener: string;
  /** The HTTP filters that go with its routes, in their order. Those that are there already are not added again. */
  filters: string[];
  /** Those in the router's upstream filter chain; the module's stands there twice where it is around the others. */
  upstream_filters: string[];
  /** Why one filter serves all routes that need the module; null where each distinct setting has its own, or none is needed. */
  shared_filter: ReportedReason | null;
  /** Why no filter marks that the router has begun; null where one may. */
  unmarked: ReportedReason | null;
}

/** A report in plain data, as `--format json` prints it. */
export interface LowerReport {
  routes: ReportedRoute[];
  connection_managers: ReportedManager[];
  other_routes: OtherRoute[];
}

/** What planning notes for the report. */
export interface Report {
  routes: (Choice & { route: Route; virtualHost: VirtualHost; composites: ChosenForm | undefined })[];
  managers: {
    manager: ConnectionManager;
    module: ModuleUse | undefined;
    mark: { disabled: boolean } | undefined;
    choice: ManagerChoice;
  }[];
  /** All route configurations of the file. */
  configurations: RouteConfiguration[];
  /** Name of the HTTP filter before which the module goes. */
  placeBefore: string | undefined;
}

/**
 * The report in plain data.
 * @param holding Names of the upstream filters that hold answers, by the offset of their connection manager.
 * @param standIns How many stand-ins routes lead to, by their offset.
 */
export function reportOf(
  report: Report,
  holding: ReadonlyMap<number, readonly string[]>,
  standIns: ReadonlyMap<number, number>,
): LowerReport {
  const { routes, managers, configurations } = report;
  const chosen = new Set(routes.map(({ route }) => route));
  return {
    routes: routes.map(({ route, virtualHost, form, composites, declined }) => ({
      ...named(route, virtualHost),
      form,
      composites: composites === undefined ? null : { form: composites.form, because: composites.because },
      declined: declined.map((one) => ({ form: one.form, ...reasonOf(one) })),
      stand_ins: standIns.get(cursorAt(route.origin).offset) ?? 0,
      cool_down: route.picking.coolDown !== undefined,
    })),
    connection_managers: managers.map((one) => {
      const held = holding.get(cursorAt(one.manager.origin).offset) ?? [];
      return managerOf(one, report.placeBefore, held);
    }),
    other_routes: configurations.flatMap((config) =>
      config.virtualHosts.flatMap((host) =>
        host.routes.filter((route) => !chosen.has(route)).map((route) => otherRoute(route, host, config)),
      ),
    ),
  };
}

/** The report as text, one line for each thing and one for each reason below it. */
export function reportText(report: LowerReport): string {
  const lines = [
    ...report.routes.flatMap(routeLines),
    ...report.connection_managers.flatMap(managerLines),
    ...report.other_routes.map((one) => `${title(one)}: ${one.only.join(", ") || "left alone"}`),
  ];
  return lines.map((line) => `${line}\n`).join("");
}

function otherRoute(route: Route, host: VirtualHost, config: RouteConfiguration): OtherRoute {
  const specified = [config, host, route].some(({ specifiers }) => specifiers.length > 0);
  const held = [host, route].some(holds);
  const only = [...(specified ? ["route_specifiers" as const] : []), ...(held ? ["hold_response" as const] : [])];
  return { ...named(route, host), only };
}

function holds({ ownSettings }: Level): boolean {
  const json = ownSettings?.value ?? null;
  return json !== null && typeof json === "object" && "hold_response" in json;
}

function managerOf(
  { manager, module, mark, choice }: Report["managers"][number],
  placeBefore: string | undefined,
  holding: readonly string[],
): ReportedManager {
  const { unmarked, sharedFilter } = choice;
  const own = module?.own;
  const names = own === undefined ? [DOWNSTREAM_FILTER] : [...new Set([...own.values()].map(({ name }) => name))];
  const resolves = chainsOf(manager).some((chain) => clearsRoute(chain, { placeBefore }));
  const ofModule = module === undefined ? [] : [...(resolves ? [RESOLVE_FILTER] : []), ...names];
  const shared = module !== undefined && own === undefined ? sharedFilter : undefined;
  return {
    listener: manager.listener,
    filters: [
      ...ofModule,
      ...(holding.length > 0 ? [HOLD_FILTER] : []),
      ...(mark === undefined ? [] : [STARTED_FILTER]),
    ],
    upstream_filters: [...UPSTREAM[module?.place ?? "nowhere"], ...holding],
    shared_filter: shared === undefined ? null : reasonOf(shared),
    unmarked: unmarked === undefined ? null : reasonOf(unmarked),
    ...placeOf(manager.origin),
  };
}

const UPSTREAM: Readonly<Record<UpstreamPlace, readonly string[]>> = {
  nowhere: [],
  first: [UPSTREAM_FILTER],
  around: [UPSTREAM_FILTER, UPSTREAM_FILTER],
};

function routeLines(one: ReportedRoute): string[] {
  const { form, composites, declined, stand_ins, cool_down } = one;
  return [
    `${title(one)}: ${form}`,
    ...declined.map((other) => `  not ${other.form}: ${sentence(other)}`),
    ...(composites === null ? [] : [`  composite clusters by ${composites.form}: ${composites.because}`]),
    ...(stand_ins === 0 ? [] : [`  skip_clusters_without_hosts: ${stand_ins} stock aggregates`]),
    ...(cool_down ? ["  cool_down: outlier detection of the clusters"] : []),
  ];
}

function managerLines(one: ReportedManager): string[] {
  const { filters, upstream_filters, shared_filter, unmarked } = one;
  const all = [...filters, ...upstream_filters.map((name) => `${name} (upstream)`)].join(", ") || "no filters";
  return [
    `${at(one)}: connection manager of listener ${one.listener}: ${all}`,
    ...(shared_filter === null ? [] : [`  one filter for all routes: ${sentence(shared_filter)}`]),
    ...(unmarked === null ? [] : [`  no filter marks that the router has begun: ${sentence(unmarked)}`]),
  ];
}

function named(route: Route, host: VirtualHost): NamedRoute {
  return { virtual_host: host.name?.value ?? "", route: route.name?.value ?? "", ...placeOf(route.origin) };
}

function title(one: NamedRoute): string {
  return `${at(one)}: ${one.route === "" ? "a route" : `route ${one.route}`} of virtual host ${one.virtual_host}`;
}

function reasonOf({ because, at: origin }: Reason): ReportedReason {
  return { because, ...placeOf(origin) };
}

function placeOf({ file, line, column, path }: Origin): Origin {
  return { file, line, column, path };
}

function sentence({ because, line }: ReportedReason): string {
  return `${because} (line ${line})`;
}

function at({ file, line, column }: Origin): string {
  return `${file}:${line}:${column}`;
}
