import type { Check } from "../check.js";
import { quoted } from "../context.js";

export const wasmFileMissing: Check = {
  code: "wasm-file-missing",
  severity: "warning",
  title: "a module's file that is not on this machine",
  why: "Envoy does not start, or refuses the listener, where the file of a Wasm filter is not there",
  find(context) {
    return context.program.wasmFiles
      .filter(({ value }) => !context.exists(value))
      .map((file) => ({
        at: file,
        message: `there is no file ${quoted(file.value)} here`,
        fix: "copy the module there, or lower with --wasm and its path as Envoy will see it",
      }));
  },
};
