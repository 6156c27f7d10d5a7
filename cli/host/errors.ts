/** The module broke a rule of the host interface. Thrown in strict mode only; otherwise Envoy's result code is returned. */
export class HostMisuseError extends Error {
  override name = "HostMisuseError";
}

/** The module trapped. `wasmStack` holds the wasm frames, innermost first. */
export class WasmTrapError extends Error {
  override name = "WasmTrapError";
  readonly wasmStack: string[];

  constructor(callback: string, cause: Error) {
    const frames = wasmFrames(cause);
    super([`${callback} trapped: ${cause.message}`, ...frames].join("\n  "), { cause });
    this.wasmStack = frames;
  }
}

/** The module cannot be loaded or refused its configuration. */
export class ModuleLoadError extends Error {
  override name = "ModuleLoadError";
}

function wasmFrames(error: Error): string[] {
  const lines = (error.stack ?? "").split("\n").map((line) => line.trim());
  return lines.filter((line) => line.includes("wasm-function[") || line.includes("wasm://"));
}
