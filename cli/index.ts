/**
 * The package `attempt-router` as a library: what `attempt-router lower` does, as a function.
 *
 * ```ts
 * import { lower } from "attempt-router";
 * const { text, warnings } = lower(await readFile("native.yaml", "utf8"));
 * const { objects } = new Lowerer({ wasm: "/etc/envoy/attempt-router.wasm" }).lower(resources);
 * ```
 */
export {
  InputError,
  type FailurePolicy,
  type Finding,
  type Lowered,
  type LowerOptions,
  type LowerReport,
  type Warning,
} from "./lower.js";
export { lower, Lowerer, type ConfigObject, type LoweredObjects } from "./lowerer.js";
export { builtModulePath } from "./module-path.js";
export { MissingModuleError, UnusableModuleError } from "./modules.js";
export { version } from "./version.js";
