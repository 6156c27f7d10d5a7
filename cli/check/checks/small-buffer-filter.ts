import type { Filter, Level } from "../../model/index.js";
import { isMessage, messageOf } from "../../model/json.js";
import type { Check } from "../check.js";

export const smallBufferFilter: Check = {
  code: "small-buffer-filter",
  severity: "warning",
  title: "a buffer filter that refuses ordinary bodies",
  why: "A buffer filter answers 413 to a body above max_request_bytes: no provider sees the request",
  find(context) {
    return context.fallbacks.flatMap(({ configuration, virtualHost, route, managers }) =>
      managers
        .flatMap(({ chain }) => chain?.filters ?? [])
        .filter(({ type, disabled }) => type?.endsWith(".buffer.v3.Buffer") === true && !disabled)
        .flatMap((filter) => {
          const limit = limitOf(filter, [route, virtualHost, configuration]);
          if (limit === undefined || limit >= SMALL) return [];
          return [
            {
              at: filter,
              message: `the buffer filter refuses bodies of more than ${limit} bytes`,
              fix: "write max_request_bytes of the largest body that you serve",
            },
          ];
        }),
    );
  },
};

/** Prompts and uploads are larger. */
const SMALL = 64 * 1024;

/** The innermost level that says something counts. */
function limitOf(filter: Filter, levels: readonly Level[]): number | undefined {
  const own = levels.flatMap(({ perFilter }) => perFilter).find(({ name }) => name === filter.name);
  const config = own === undefined ? filter.config?.value : messageOf(own.json)["buffer"];
  return isMessage(config) ? Number(config["max_request_bytes"] ?? NaN) : undefined;
}
