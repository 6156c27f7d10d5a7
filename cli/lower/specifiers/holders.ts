// Where specifiers stand.

import { routesOf } from "../../read/resources.js";
import type { Cursor } from "../../yaml/cursor.js";

/** Whether some specifiers stand in a route configuration. */
export function hasSpecifiers(config: Cursor): boolean {
  return holdersOf(config).some((holder) => holder.list("route_specifiers").length > 0);
}

/** A route configuration with its virtual hosts and their routes. */
export function holdersOf(config: Cursor): Cursor[] {
  return [config, ...config.list("virtual_hosts").flatMap((host) => [host, ...routesOf(host)])];
}

/** Whether no request is without a virtual host. */
export function takesEveryHost(host: Cursor): boolean {
  return host.list("domains").some((domain) => domain.string() === "*");
}
