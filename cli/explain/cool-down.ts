// What `cool_down` makes of an answer.

import type { CoolDown } from "../model/index.js";
import type { Answer } from "./request.js";

/** A clause that follows what is said of an answer; empty for answers that do not count. */
export function coolDownNote(coolDown: CoolDown | undefined, answer: Answer, cluster: string): string {
  if (coolDown === undefined || !counts(coolDown, answer)) return "";
  const { consecutive, base } = coolDown;
  if (consecutive > 1) return `; ${consecutive} such answers in a row leave ${cluster} out`;
  return `; ${cluster} is then left out for ${base / 1000} s`;
}

/** An attempt without an answer counts as soon as the status does that Envoy gives to it, whichever of the two it is. */
function counts({ statuses }: CoolDown, answer: Answer): boolean {
  if (answer.kind === "response") return statuses.includes(answer.status);
  return statuses.includes(503) || statuses.includes(504);
}
