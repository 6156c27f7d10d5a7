import { formatFinding, InputError } from "./findings.js";
import { NoEnvoyError } from "./installed-envoy.js";
import type { Io } from "./io.js";
import { MissingModuleError, UnusableModuleError } from "./modules.js";
import { writePlaced } from "./paint.js";
import { EnvoyError } from "./route-tests/envoy-process.js";

/** Says on standard error what ended a command. Gives its exit code. @throws the error itself where it is a defect. */
export function writeFailure(io: Io, error: unknown): 1 | 2 {
  if (error instanceof InputError) {
    for (const finding of error.findings) writePlaced(io, formatFinding(finding));
    return 1;
  }
  const isInstallation = error instanceof MissingModuleError || error instanceof UnusableModuleError;
  if (!isInstallation && !(error instanceof EnvoyError || error instanceof NoEnvoyError)) throw error;
  io.stderr.write(`error: ${error.message}\n`);
  return isInstallation ? 2 : 1;
}
