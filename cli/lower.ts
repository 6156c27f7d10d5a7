import * as core from "./lower/lower.js";
import { MODULE_FILES } from "./module-path.js";

export { InputError, type Finding, type Warning } from "./findings.js";
export type { Lowered, LowerOptions } from "./lower/lower.js";
export type { FailurePolicy } from "./lower/options.js";
export type { LowerReport } from "./lower/report.js";

/** Lowers a text with the modules of this machine; see {@link core.lower}. */
export function lower(text: string, options: core.LowerOptions = {}): core.Lowered {
  return core.lower(text, options, MODULE_FILES);
}
