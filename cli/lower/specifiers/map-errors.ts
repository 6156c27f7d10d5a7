import type { Finding } from "../../findings.js";
import { pathSteps, type SettingsError } from "../module-check.js";
import type { Configured } from "./configured.js";
import type { PlannedChain } from "./planned.js";

/** The place in the file that an error of the module about a chain is about. */
export function chainFinding({ levels, holder }: PlannedChain, error: SettingsError): Finding {
  const [, level, index, ...rest] = pathSteps(error.path);
  const lists: Record<string, Configured[]> = levels;
  const entry = typeof index === "number" ? lists[level ?? ""]?.[index]?.entry : undefined;
  const message = `expected ${error.expected}, found ${error.found}`;
  return entry === undefined ? holder.finding(message) : entry.findingBelow(inTemplate(rest), message);
}

/** A template's priority groups stand in the settings that the module reads, and in the route's action in the file. */
function inTemplate(steps: (string | number)[]): (string | number)[] {
  const at = steps.indexOf("settings");
  if (at < 0 || steps[at + 1] !== "priority_group") return steps;
  const inline = ["route", "inline_cluster_specifier_plugin", "extension", "typed_config"];
  return [...steps.slice(0, at), ...inline, ...steps.slice(at + 2)];
}
