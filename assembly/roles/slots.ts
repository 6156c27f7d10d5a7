// The one writer of what the proxy reads to choose a cluster: slots in whichever form, and the filter state beside them.

import { Bytes, View } from "../bytes";
import { UNKNOWN_CLUSTER } from "../decide/override";
import { SlotForm } from "../decide/plan";
import { Counter } from "../host/counters";
import { HeaderMap, Host } from "../host/host";
import { FIRST, FIRST_HEADER, ONE_SLOT_KEY, slotHeader, slotKey } from "../host/names";

const name = new View();
const text = new View();

/** Writes the cluster of an attempt (1, 2, …) where a route with this form looks for it. */
export function writeSlot(host: Host, form: SlotForm, attempt: i32, cluster: View): void {
  if (form == SlotForm.HEADERS) writeSlotHeader(host, attempt, cluster);
  else writeState(host, form == SlotForm.ONE_SLOT ? ONE_SLOT_KEY : slotKey(attempt), cluster);
}

/** In SlotForm.HEADERS: makes the router begin with the first header. */
export function writeFirst(host: Host): void {
  text.setBytes(FIRST);
  replace(host, FIRST_HEADER, text);
}

/** Writes filter state. */
export function writeState(host: Host, key: Bytes, value: View): void {
  if (!host.setProperty(key, value)) host.increment(Counter.SLOT_WRITE_FAILED);
}

// A name that no header may hold is one that no cluster has.
function writeSlotHeader(host: Host, attempt: i32, cluster: View): void {
  if (!isHeaderValue(cluster)) cluster.setBytes(UNKNOWN_CLUSTER);
  replace(host, slotHeader(attempt), cluster);
}

function replace(host: Host, header: Bytes, value: View): void {
  name.setBytes(header);
  if (!host.replaceHeader(HeaderMap.REQUEST, name, value)) host.increment(Counter.SLOT_WRITE_FAILED);
}

// A line break would begin another header.
function isHeaderValue(value: View): bool {
  for (let i = 0; i < value.length; i++) {
    if (value.at(i) < 0x20 || value.at(i) == 0x7f) return false;
  }
  return true;
}
