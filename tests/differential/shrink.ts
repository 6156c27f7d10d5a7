// Makes a case, or another description of what fails, smaller, while it fails in the same way.

import { isDeepStrictEqual } from "node:util";

/** Whether a smaller case still fails as the whole one does. */
export type StillFails<T> = (test: T) => Promise<boolean>;

type Path = (string | number)[];

/** The smallest case found by leaving parts out, largest ones first, in at most `tries` runs. */
export async function shrink<T extends object>(test: T, stillFails: StillFails<T>, tries: number): Promise<T> {
  let best = test;
  let left = tries;
  for (let changed = true; changed && left > 0; ) {
    changed = false;
    for (const path of partsOf(best)) {
      const smaller = without(best, path);
      if (smaller === undefined || isDeepStrictEqual(smaller, best)) continue;
      if (left === 0) break;
      left -= 1;
      if (!(await stillFails(smaller))) continue;
      best = smaller;
      changed = true;
    }
  }
  return best;
}

const KEPT = new Set(["file", "name", "about", "upstreams", "requests", "@type", "observe"]);

/** Without the header of its random value, what a chain does is not the same each time. */
const ALWAYS_KEPT = new Set(["@type", "header_name"]);

/** The paths of everything that may be left out, those with the most text first. */
function partsOf(test: object): Path[] {
  const parts: { path: Path; size: number }[] = [];
  const visit = (value: unknown, path: Path): void => {
    if (value === null || typeof value !== "object") return;
    for (const [key, item] of Object.entries(value as Record<string, unknown>)) {
      if (item === undefined) continue;
      const at = [...path, Array.isArray(value) ? Number(key) : key];
      if (!(path.length === 0 && KEPT.has(key)) && !ALWAYS_KEPT.has(key)) {
        parts.push({ path: at, size: JSON.stringify(item).length });
      }
      visit(item, at);
    }
  };
  visit(test, []);
  return parts.sort((one, other) => other.size - one.size).map(({ path }) => path);
}

/** A copy without what stands at a path; undefined where nothing does. */
function without<T extends object>(test: T, path: Path): T | undefined {
  const copy = structuredClone(test);
  const holder = path.slice(0, -1).reduce<unknown>(childOf, copy);
  const [last] = path.slice(-1);
  if (childOf(holder, last ?? "") === undefined) return undefined;
  if (Array.isArray(holder)) holder.splice(Number(last), 1);
  else Reflect.deleteProperty(holder as object, last ?? "");
  return copy;
}

function childOf(holder: unknown, key: string | number): unknown {
  return holder === null || typeof holder !== "object" ? undefined : (holder as Record<string | number, unknown>)[key];
}
