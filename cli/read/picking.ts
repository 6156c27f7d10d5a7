import { COOL_DOWN_DEFAULTS, type CoolDown, type Picking } from "../model/picking.js";
import { METADATA_NAMESPACE } from "../lower/types.js";
import type { Cursor } from "../yaml/cursor.js";
import { bool, duration, number, numbers } from "./fields.js";
import { originOf } from "./place.js";

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
  return {
    skips: first((level) => bool(level, "skip_clusters_without_hosts")),
    coolDown: readCoolDown(first((level) => level?.field("cool_down"))),
  };
}

function readCoolDown(setting: Cursor | undefined): CoolDown | undefined {
  return (
    setting && {
      statuses: numbers(setting, "statuses")?.value ?? [],
      consecutive: number(setting, "consecutive")?.value ?? COOL_DOWN_DEFAULTS.consecutive,
      base: duration(setting, "base")?.value ?? COOL_DOWN_DEFAULTS.base,
      max: duration(setting, "max")?.value ?? COOL_DOWN_DEFAULTS.max,
      origin: originOf(setting),
    }
  );
}
