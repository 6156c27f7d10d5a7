import type { Check } from "../check.js";
import { quoted } from "../context.js";
import { metadataWriters } from "../metadata-writers.js";

export const overrideNeverWritten: Check = {
  code: "override-never-written",
  severity: "warning",
  title: "an override that no filter writes",
  why: "override_metadata_namespace reads dynamic metadata: where no filter before the router can write any, the configured groups always count",
  find(context) {
    return context.fallbacks.flatMap(({ attempts, managers }) => {
      const { override } = attempts;
      if (override === undefined || managers.length === 0) return [];
      if (metadataWriters(managers).length > 0) return [];
      return [
        {
          at: override,
          message: `no HTTP filter writes metadata ${quoted(override.value)}`,
          fix: "put a filter that writes it before the router, such as ext_proc, lua or set_metadata, or leave the field out",
        },
      ];
    });
  },
};
