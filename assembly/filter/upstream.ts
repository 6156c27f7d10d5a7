import { View } from "../bytes";
import { Plan, SlotForm } from "../decide/plan";
import { Host } from "../host/host";
import { ATTEMPT_COUNT_ATTRIBUTE, ONE_SLOT_KEY, RANDOM_KEY } from "./names";
import { planOfRoute } from "./route-plan";

const value = new View();

/**
 * The upstream role, first in the upstream chain and called once per attempt: decides the next attempt while this one
 * starts, for the plans that cannot be written down when the request begins.
 */
export function onUpstreamRequest(host: Host): void {
  const plan = planOfRoute(host);
  if (plan == null || plan.slotForm != SlotForm.ONE_SLOT) return;
  const group = plan.groupOf(<u32>readNumber(host, ATTEMPT_COUNT_ATTRIBUTE) + 1);
  const random = plan.isWeighted ? readNumber(host, RANDOM_KEY) : 0;
  host.setProperty(ONE_SLOT_KEY, unchecked(group.clusters[group.pick(random)]));
}

// A 64-bit attribute or filter state; 0 where it is absent.
function readNumber(host: Host, path: StaticArray<u8>): u64 {
  if (!host.property(path, value)) return 0;
  const number = value.length == 8 ? load<u64>(value.ptr) : 0;
  host.release(value);
  return number;
}
