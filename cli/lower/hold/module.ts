import { readModule, requireModule, type ModuleFiles } from "../../modules.js";
import { sha256 } from "../../sha256.js";
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
export function holdModule(module: ModuleSource, files: ModuleFiles): ModuleSource {
  if (module.kind === "remote") {
    return { ...module, uri: besideOf(module.uri), sha256: sha256(readModule(files, files.hold)) };
  }
  if (module.filename === files.main) return { ...module, filename: requireModule(files, files.hold) };
  return { ...module, filename: besideOf(module.filename) };
}

function besideOf(place: string): string {
  const [path = "", ...query] = place.split(/(?=[?#])/);
  return path.replace(FILE_NAME, NAME) + query.join("");
}
