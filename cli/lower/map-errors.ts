import type { Finding } from "../findings.js";
import { pathSteps, type SettingsError } from "./module-check.js";
import type { PriorityGroupRoute } from "./priority-group.js";

/** The place in the file that an error of the module is about. */
export function settingsFinding(planned: PriorityGroupRoute, error: SettingsError): Finding {
  // The name of a oneof is no field of the file.
  const [first, ...rest] = pathSteps(error.path).filter((step) => step !== "policy_specifier");
  const message = `expected ${error.expected}, found ${error.found}`;
  if (first === "priority_group") return planned.use.specifier.findingBelow(rest, message);
  if (first === "hash_policy") return planned.route.findingBelow(["route", "hash_policy", ...rest], message);
  const metadata = ["metadata", "filter_metadata", "attempt_router"];
  return planned.route.findingBelow(first === undefined ? metadata : [...metadata, first, ...rest], message);
}
