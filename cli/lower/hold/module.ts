import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { builtHoldModulePath, builtModulePath, requireModule } from "../../module-path.js";
import type { ModuleSource } from "../options.js";

const FILE_NAME = /[^/]*$/;
/** Of the file, wherever it is. */
const NAME = "attempt-router-hold.wasm";

/**
 * Where Envoy finds the module that holds answers: beside the module itself, under a name of its own. Of a remote one the digest is that of
 * the built file.
 *
 * @throws MissingModuleError where the built file is needed and is not there.
 */
export function holdModule(module: ModuleSource): ModuleSource {
  if (module.kind === "remote") {
    const sha256 = createHash("sha256")
      .update(readFileSync(requireModule(builtHoldModulePath())))
      .digest("hex");
    return { ...module, uri: besideOf(module.uri), sha256 };
  }
  if (module.filename === builtModulePath()) return { ...module, filename: requireModule(builtHoldModulePath()) };
  return { ...module, filename: besideOf(module.filename) };
}

function besideOf(place: string): string {
  const [path = "", ...query] = place.split(/(?=[?#])/);
  return path.replace(FILE_NAME, NAME) + query.join("");
}
