import { candidates, learnFromUnavailable } from "../availability/availability";
import { View, encode } from "../bytes";
import { Host } from "../host/host";
import { Role, readRole } from "./role";
import { decideAgain } from "./upstream";

const UNAVAILABLE = encode("503");
const FOUR: u8 = 0x34;
const status = new View();
let isUnavailable = false;

/**
 * A response, of an upstream or on its way to the client. One that may be retried has the next attempt decided again,
 * since hosts may have come and gone while it was awaited.
 */
export function onResponse(host: Host): void {
  if (candidates.watched.length == 0 || !readErrorStatus(host)) return;
  if (readRole(host) == Role.UPSTREAM) decideAgain(host);
  else if (isUnavailable) learnFromUnavailable(host);
}

// Whether the status is 400 or higher; whether it is 503 is then in `isUnavailable`.
function readErrorStatus(host: Host): bool {
  if (!host.responseStatus(status)) return false;
  const isError = status.length == 3 && status.at(0) >= FOUR;
  isUnavailable = status.equals(UNAVAILABLE);
  host.release(status);
  return isError;
}
