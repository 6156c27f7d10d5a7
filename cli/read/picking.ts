import type { Picking } from "../model/picking.js";
import { METADATA_NAMESPACE } from "../lower/types.js";
import type { Cursor } from "../yaml/cursor.js";
import { bool } from "./fields.js";

/** The settings of a route's attempts; what the route does not say, its virtual host may. */
export function readPicking(route: Cursor, virtualHost: Cursor | undefined): Picking {
  const levels = [route, virtualHost].map((level) => level?.at("metadata", "filter_metadata", METADATA_NAMESPACE));
  const first = <T>(read: (level: Cursor | undefined) => T | undefined): T | undefined => {
    for (const level of levels) {
      const value = read(level);
      if (value !== undefined) return value;
    }
    return undefined;
  };
  return { skips: first((level) => bool(level, "skip_clusters_without_hosts")) };
}
