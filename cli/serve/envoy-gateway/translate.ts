// All resources of one Gateway with the wishes in the metadata of routes → what Envoy gets.

import { InputError } from "../../findings.js";
import type { ConfigObject, Lowerer } from "../../lowerer.js";
import type { Json } from "../../yaml/scalar.js";
import { TYPE } from "../../lower/types.js";
import { at, ClusterIndex, items } from "./gateway-metadata.js";
import { nativeRoute, refusedRoute, without } from "./native-route.js";
import { isObject, wishOf, WISH, WishError, type Wish } from "./wish.js";

/** What a hook is given, and gives back. */
export interface Resources {
  clusters: ConfigObject[];
  listeners: ConfigObject[];
  routes: ConfigObject[];
}

/** A route that answers 500, and why. */
export interface Refusal {
  route: string;
  wish: Wish;
  reason: string;
}

export interface Translation {
  resources: Resources;
  /** Routes whose wish is carried out. */
  served: number;
  refusals: Refusal[];
  warnings: string[];
  /** What was translated: the name of the first RouteConfiguration, as in `NAMESPACE/GATEWAY/LISTENER`. */
  of: string;
}

/** Where a wish stands: the indexes of RouteConfiguration, virtual host and route. */
interface Place {
  at: readonly [number, number, number];
  route: ConfigObject;
  wish: Wish;
}

/** @param lowerer undefined: the proxies know the native specifier. */
export function translate(resources: Resources, lowerer: Lowerer | undefined): Translation {
  const places = placesOf(resources.routes);
  const of = resources.routes.map(nameOf)[0] ?? "";
  if (places.length === 0) return { resources, served: 0, refusals: [], warnings: [], of };
  const all = routesOf(resources.routes).map(({ route }) => route);
  const index = new ClusterIndex(resources.clusters, all);
  const refused = new Map<Place, string>();
  const natives = new Map<Place, ConfigObject>();
  for (const place of places) {
    try {
      natives.set(place, nativeRoute(place.route, place.wish, index));
    } catch (error) {
      if (!(error instanceof WishError)) throw error;
      refused.set(place, error.message);
    }
  }
  const { lowered, warnings } = lowerAll(resources, natives, refused, lowerer);
  const refusals = [...refused].map(([{ route, wish }, reason]) => ({ route: nameOf(route), wish, reason }));
  return { resources: lowered, served: places.length - refusals.length, refusals, warnings, of };
}

/** Lowers until no route is left that is wrong: each round takes out those that a finding names. */
function lowerAll(
  resources: Resources,
  natives: Map<Place, ConfigObject>,
  refused: Map<Place, string>,
  lowerer: Lowerer | undefined,
): { lowered: Resources; warnings: string[] } {
  for (;;) {
    const written = withRoutes(resources, natives, refused);
    if (lowerer === undefined || natives.size === refused.size) return { lowered: written, warnings: [] };
    try {
      return lowerOnce(written, lowerer);
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      refuse(error, natives, refused, resources);
    }
  }
}

function lowerOnce({ clusters, listeners, routes }: Resources, lowerer: Lowerer) {
  const typed = [
    ...routes.map((route) => ({ "@type": TYPE.routeConfiguration, ...route })),
    ...listeners.map((listener) => ({ "@type": TYPE.listener, ...listener })),
    ...clusters.map((cluster) => ({ "@type": TYPE.cluster, ...cluster })),
  ];
  const given = new Map(typed.map((one, index) => [one, [...routes, ...listeners, ...clusters][index]] as const));
  const { objects, warnings } = lowerer.lower(typed);
  const ofType = (type: string): ConfigObject[] =>
    objects.filter((one) => one["@type"] === type).map((one) => given.get(one as never) ?? without(one, "@type"));
  const lowered = {
    clusters: ofType(TYPE.cluster),
    listeners: ofType(TYPE.listener),
    routes: ofType(TYPE.routeConfiguration),
  };
  return { lowered, warnings: warnings.map(({ path, message }) => `${path}: ${message}`) };
}

const PLACE = /^resources\[(\d+)\]\.virtual_hosts\[(\d+)\]\.routes\[(\d+)\]\.?(.*)$/;

/** A finding that names no route with a wish is about what all share: then no wish can be carried out. */
function refuse(
  { findings }: InputError,
  natives: Map<Place, ConfigObject>,
  refused: Map<Place, string>,
  { routes }: Resources,
): void {
  const before = refused.size;
  for (const { path, message } of findings) {
    const match = PLACE.exec(path);
    if (match === null || Number(match[1]) >= routes.length) continue;
    const place = [...natives.keys()].find((one) => one.at.join() === match.slice(1, 4).join());
    if (place !== undefined && !refused.has(place)) refused.set(place, `${match[4] ?? ""}: ${message}`);
  }
  if (refused.size > before) return;
  const reason = findings.map(({ path, message }) => `${path}: ${message}`).join("; ");
  for (const place of natives.keys()) if (!refused.has(place)) refused.set(place, reason);
}

/** What holds no wish stays the object that it was. */
function withRoutes(resources: Resources, natives: Map<Place, ConfigObject>, refused: Map<Place, string>): Resources {
  const written = new Map<string, ConfigObject>();
  for (const [place, route] of natives) written.set(place.at.join(), route);
  for (const place of refused.keys()) written.set(place.at.join(), refusedRoute(place.route));
  const places = [...natives.keys(), ...refused.keys()].map((place) => place.at);
  const changed = new Set(places.flatMap(([i, j]) => [`${i}`, `${i},${j}`]));
  const routes = resources.routes.map((configuration, i) => {
    if (!changed.has(`${i}`)) return configuration;
    const hosts = items(configuration["virtual_hosts"]).map((host, j) => {
      if (!changed.has(`${i},${j}`) || !isObject(host)) return host;
      return { ...host, routes: items(host["routes"]).map((route, k) => written.get(`${i},${j},${k}`) ?? route) };
    });
    return { ...configuration, virtual_hosts: hosts };
  });
  return { ...resources, routes };
}

function placesOf(configurations: readonly ConfigObject[]): Place[] {
  return routesOf(configurations).flatMap(({ at: place, route }) => {
    const wish = wishOf(at(route, "metadata", "filter_metadata", WISH));
    return wish === undefined ? [] : [{ at: place, route, wish }];
  });
}

function routesOf(configurations: readonly ConfigObject[]): { at: Place["at"]; route: ConfigObject }[] {
  return configurations.flatMap((configuration, i) =>
    items(configuration["virtual_hosts"]).flatMap((host, j) =>
      items(at(host, "routes")).flatMap((route, k) => (isObject(route) ? [{ at: [i, j, k] as const, route }] : [])),
    ),
  );
}

function nameOf(route: ConfigObject): string {
  const name: Json | undefined = route["name"];
  return typeof name === "string" ? name : "";
}
