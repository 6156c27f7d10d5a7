import { Bytes, View, decode } from "../bytes";
import { candidates } from "../availability/availability";
import { Plan } from "../decide/plan";
import { Host, LogLevel } from "../host/host";
import { RoutePlan } from "../route/route-plan";
import { readOwnPlan } from "../settings/module-settings";
import { Fields } from "../settings/fields";
import { readPlan } from "../settings/plan";
import { MetadataField, findNamespace } from "../wire/metadata";
import { NAMESPACE } from "../settings/namespace";
import { PlanCache } from "../settings/plan-cache";
import { Problem } from "../settings/problem";
import { SettingsId } from "../settings/settings-id";
import { readStruct } from "../settings/struct";
import { Counter } from "../host/counters";
import { ROUTE_METADATA, ROUTE_NAME, VIRTUAL_HOST_METADATA, VIRTUAL_HOST_NAME } from "../host/names";

const cache = new PlanCache();
const id = new SettingsId();
const routeName = new View();
const metadata = new View();
const struct = new View();

/**
 * The plan of the request's current route, or null: the route has no settings, there is no route, or the settings are
 * wrong. The route's metadata is read the first time its name is seen.
 */
export function planOfRoute(host: Host): RoutePlan | null {
  return host.property(ROUTE_NAME, routeName) ? planOfName(host, ROUTE_METADATA) : null;
}

/**
 * As `planOfRoute`; where no route was resolved, the plan of the virtual host: its specifiers run without a route.
 */
export function planOfRequest(host: Host): RoutePlan | null {
  if (host.property(ROUTE_NAME, routeName)) return planOfName(host, ROUTE_METADATA);
  return host.property(VIRTUAL_HOST_NAME, routeName) ? planOfName(host, VIRTUAL_HOST_METADATA) : null;
}

/**
 * The plan of a plugin that has one in its configuration, for it serves no other route; else null. What is wrong with
 * it is reported, and its requests are then served by what their route says.
 */
export function readPluginPlan(host: Host, configuration: View): Plan | null {
  const problem = new Problem();
  const plan = readOwnPlan(configuration, candidates, problem);
  if (!problem.exists) return plan != null ? plan.attempts : null;
  host.increment(Counter.SETTINGS_ERROR);
  host.log(LogLevel.ERROR, "configuration: " + problem.toString());
  return null;
}

function planOfName(host: Host, metadataOf: Bytes): RoutePlan | null {
  let plan: RoutePlan | null = null;
  if (id.read(routeName)) plan = cache.find(id) ? cache.plan : load(host, metadataOf);
  host.release(routeName);
  return plan;
}

// A route without settings is a plain one, whatever it is called, and its name must not stand for another's settings.
function load(host: Host, metadataOf: Bytes): RoutePlan | null {
  if (!host.property(metadataOf, metadata)) return null;
  let plan: RoutePlan | null = null;
  if (findNamespace(metadata, MetadataField.FILTER_METADATA, NAMESPACE, struct)) {
    plan = read(host);
    cache.add(id, plan, struct.length);
  }
  host.release(metadata);
  return plan;
}

function read(host: Host): RoutePlan | null {
  const name = routeName.copy();
  const problem = new Problem();
  const plan = parse(name, problem);
  if (problem.exists) {
    host.increment(Counter.SETTINGS_ERROR);
    host.log(LogLevel.ERROR, 'settings of route "' + decode(name) + '": ' + problem.toString());
  }
  return plan;
}

function parse(name: Bytes, problem: Problem): RoutePlan | null {
  const value = readStruct(struct);
  if (value == null) {
    problem.note("", "an object", "bytes that are none, or one that is nested too deep");
    return null;
  }
  return readPlan(new Fields(value, "", problem), name, candidates, problem);
}
