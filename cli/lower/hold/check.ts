import type { Finding } from "../../findings.js";
import { encodeMetadata, WasmHost } from "../../host/index.js";
import { readModule, type ModuleFiles } from "../../modules.js";
import { pathSteps } from "../module-check.js";
import { METADATA_NAMESPACE } from "../types.js";
import type { HoldPlan } from "./plan.js";
import type { HoldSettings } from "./settings.js";

const ERROR_LINE = /hold_response: (\S+|\(top level\)): expected ([^]*), found ([^]*)$/;

/**
 * What the module that holds answers says is wrong with the settings of a file: the first error of each.
 *
 * @throws MissingModuleError
 */
export function holdFindings({ settings }: HoldPlan, files: ModuleFiles): Finding[] {
  if (settings.length === 0) return [];
  const wasm = readModule(files, files.hold);
  return settings.flatMap((one) => {
    const error = ERROR_LINE.exec(errorLine(wasm, one.settings) ?? "");
    if (error === null) return [];
    const [, path = "", expected, found] = error;
    const steps = path === "(top level)" ? [] : pathSteps(path);
    return [one.setting.findingBelow(steps, `expected ${expected}, found ${found}`)];
  });
}

function errorLine(wasm: Uint8Array, settings: HoldSettings): string | undefined {
  const configuration = encodeMetadata({ filter_metadata: { [METADATA_NAMESPACE]: settings } });
  const host = WasmHost.load(wasm, { plugins: [{ name: "attempt_router_hold", rootId: "upstream", configuration }] });
  return host.logs.find(({ message }) => message.includes("hold_response"))?.message;
}
