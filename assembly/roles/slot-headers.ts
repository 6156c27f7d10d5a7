// SlotForm.HEADERS: the picks travel as request headers, which the router reads on the route's pinned copy.

import { Bytes, View } from "../bytes";
import { ViewList } from "../view-list";
import { Decision } from "../decide/decision";
import { HeaderMap, Host } from "../host/host";
import { FIRST, FIRST_HEADER, UNKNOWN_CLUSTER, slotHeader } from "../host/names";
import { decideAttempt } from "./request";

const name = new View();
const text = new View();
const cluster = new View();
const clusters = new ViewList();

/**
 * Writes the header of every attempt, unless the route's static defaults do; whether it wrote them. All of them, since the
 * copy of the route has no defaults, and since a client may have sent some.
 */
export function writeSlotHeaders(host: Host, decision: Decision): bool {
  const slots = decision.plan.slots;
  clusters.clear();
  // What the upstream role writes later must be read, too.
  let differs = decision.plan.decidesPerAttempt;
  for (let i = 0; i < slots; i++) {
    if (!decideAttempt(host, decision, i + 1, cluster)) differs = true;
    clusters.add(cluster.ptr, cluster.length);
  }
  if (!differs) return false;
  for (let i = 0; i < slots; i++) {
    writeSlotHeader(host, i + 1, clusters.at(i));
  }
  text.setBytes(FIRST);
  replace(host, FIRST_HEADER, text);
  return true;
}

/** Writes the cluster of an attempt. A name that no header may hold is one that no cluster has. */
export function writeSlotHeader(host: Host, attempt: i32, picked: View): void {
  if (!isHeaderValue(picked)) picked.setBytes(UNKNOWN_CLUSTER);
  replace(host, slotHeader(attempt), picked);
}

function replace(host: Host, header: Bytes, value: View): void {
  name.setBytes(header);
  host.replaceHeader(HeaderMap.REQUEST, name, value);
}

// A line break would begin another header.
function isHeaderValue(value: View): bool {
  for (let i = 0; i < value.length; i++) {
    if (value.at(i) < 0x20 || value.at(i) == 0x7f) return false;
  }
  return true;
}
