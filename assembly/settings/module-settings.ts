import { View, encode } from "../bytes";
import { Candidates } from "../decide/candidates";
import { ModuleSettings } from "../proto/attempt_router/v1/ModuleSettings";
import { RoutePlan } from "../route/route-plan";
import { MetadataField, findNamespace } from "../wire/metadata";
import { readComposites } from "./composites";
import { Fields } from "./fields";
import { NAMESPACE } from "./namespace";
import { readPlan } from "./plan";
import { Problem } from "./problem";
import { readAvailability, readInterval } from "./route-settings";
import { readStruct } from "./struct";

const struct = new View();

/**
 * Reads the module's configuration: a serialized `Metadata` message, as the settings of a route are one. An empty one
 * is legal. What is wrong is noted in `problem`, and the result then means nothing.
 */
export function readModuleSettings(configuration: View, problem: Problem): ModuleSettings {
  const settings = new ModuleSettings();
  if (!findNamespace(configuration, MetadataField.FILTER_METADATA, NAMESPACE, struct)) return settings;
  const value = readStruct(struct);
  if (value == null) {
    problem.note("", "an object", "bytes that are none, or one that is nested too deep");
    return settings;
  }
  const fields = new Fields(value, "", problem);
  settings.compositeClusters = readComposites(fields);
  settings.availability = readAvailability(fields);
  settings.availabilityIntervalMs = readInterval(fields);
  fields.finish();
  return settings;
}

/**
 * The plan of the one route whose requests a plugin with this configuration gets (`ModuleSettings.route`); null where
 * the configuration names none, so that the plugin serves all routes.
 */
export function readOwnPlan(configuration: View, candidates: Candidates, problem: Problem): RoutePlan | null {
  if (!findNamespace(configuration, MetadataField.FILTER_METADATA, NAMESPACE, struct)) return null;
  const value = readStruct(struct);
  if (value == null) return null;
  const fields = new Fields(value, "", problem);
  const route = fields.object("route");
  if (route == null) return null;
  const name = encode(fields.text("route_name"));
  const plan = readPlan(route, name, candidates, problem);
  fields.finish();
  return plan;
}
