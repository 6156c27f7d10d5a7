import type { Finding } from "../findings.js";
import { pathSteps, type SettingsError } from "./module-check.js";
import type { PreparedRoute } from "./priority-group.js";
import { weightedSteps } from "./weighted-composites.js";

/** How the module calls a field that it does not know. */
const UNKNOWN_FIELD = "an unknown field";
/** What a user may write into a route's metadata; the module's list also has what `lower` writes, and lacks what is `lower`'s. */
const OWN_SETTINGS = [
  ...["allowed_clusters", "cluster_selection", "slots", "read_metadata_per_attempt"],
  ...["skip_clusters_without_hosts", "availability", "availability_interval_ms"],
];

/** The place in the file that an error of the module is about. */
export function settingsFinding(planned: PreparedRoute, error: SettingsError): Finding {
  // The name of a oneof is no field of the file.
  const [first, ...rest] = pathSteps(error.path).filter((step) => step !== "policy_specifier");
  const { expected, found } = nameOwnSettings(error) ?? error;
  const message = `expected ${expected}, found ${found}`;
  if (first === "priority_group" && planned.use.field === "weighted_clusters") {
    return planned.use.specifier.findingBelow(weightedSteps(planned.use.specifier, rest), message);
  }
  if (first === "priority_group") return planned.use.specifier.findingBelow(rest, message);
  if (first === "hash_policy") return planned.route.findingBelow(["route", "hash_policy", ...rest], message);
  const metadata = ["metadata", "filter_metadata", "attempt_router"];
  return planned.route.findingBelow(first === undefined ? metadata : [...metadata, first, ...rest], message);
}

/** Whether an error is about settings that `lower` made of composite clusters, which have no place of their own in the file. */
export function isAboutComposites({ use }: PreparedRoute, { path }: SettingsError): boolean {
  const [first] = pathSteps(path);
  if (first === "composite_clusters") return true;
  return use.field === "cluster" && (first === "cluster" || first === "priority_group");
}

function nameOwnSettings({ path, found }: SettingsError): Pick<SettingsError, "expected" | "found"> | undefined {
  if (pathSteps(path).length !== 1 || found !== UNKNOWN_FIELD) return undefined;
  return { expected: `one of the settings ${OWN_SETTINGS.join(", ")}`, found };
}
