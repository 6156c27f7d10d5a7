import { decode } from "../bytes";
import { Plan } from "../decide/plan";
import { Host, LogLevel } from "../host/host";

/**
 * Counts a fallback, and logs its cause the first time it happens on a route: clients can cause some of them with every
 * request, and the counter tells how often. `place` is the setting that the cause belongs to.
 */
export function report(host: Host, plan: Plan, counter: i32, place: string, cause: string): void {
  host.increment(counter);
  const bit: u32 = 1 << counter;
  if ((plan.reported & bit) != 0) return;
  plan.reported |= bit;
  host.log(LogLevel.WARN, 'route "' + decode(plan.routeName) + '": ' + place + ": " + cause);
}
