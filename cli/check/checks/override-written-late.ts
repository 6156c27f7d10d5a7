import type { Filter, PerFilterConfig } from "../../model/index.js";
import { messageOf } from "../../model/json.js";
import type { Check } from "../check.js";
import { quoted } from "../context.js";
import { metadataWriters } from "../metadata-writers.js";

export const overrideWrittenLate: Check = {
  code: "override-written-late",
  severity: "warning",
  title: "an override that is written after the route was decided on",
  why: "The chain is chosen when the request headers reach the router: an external processor that does not see the headers, or that Envoy does not wait for, writes its metadata later",
  find(context) {
    return context.fallbacks.flatMap(({ attempts, managers, configuration, virtualHost, route }) => {
      const { override } = attempts;
      const writers = override === undefined ? [] : metadataWriters(managers);
      const changed = [configuration, virtualHost, route].flatMap(({ perFilter }) => perFilter);
      if (override === undefined || writers.length === 0 || !writers.every((one) => isLate(one, changed))) return [];
      return [
        {
          at: writers[0] ?? override,
          message: `the processor that writes metadata ${quoted(override.value)} does not hold the request headers back`,
          fix: "write request_header_mode: SEND, without observability_mode, and answer the headers with the metadata",
        },
      ];
    });
  },
};

function isLate({ name, type, config }: Filter, changed: readonly PerFilterConfig[]): boolean {
  if (type?.endsWith(".ExternalProcessor") !== true || changed.some((one) => one.name === name)) return false;
  const { processing_mode, observability_mode } = messageOf(config?.value);
  return messageOf(processing_mode)["request_header_mode"] === "SKIP" || observability_mode === true;
}
