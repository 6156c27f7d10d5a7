import { View } from "../bytes";
import { HeaderMap, Host } from "../host/host";
import { RATELIMITED_HEADER, STOPPED } from "../host/names";
import { lendRecord, recordEnd } from "./record";
import { planOfRoute } from "./route-plan";

const name = new View();
const value = new View();

/** The response on its way to the client, of a route whose answers are watched. */
export function onLastAnswer(host: Host): void {
  const plan = planOfRoute(host);
  const answers = plan != null ? plan.attempts.answers : null;
  if (answers == null) return;
  if (answers.mayStop) takeMarkAway(host);
  if (!answers.records) return;
  recordEnd(host);
  const header = answers.responseHeader;
  if (header == null || !lendRecord(value)) return;
  name.setBytes(header);
  host.replaceHeader(HeaderMap.RESPONSE, name, value);
}

function takeMarkAway(host: Host): void {
  if (!host.responseLine(RATELIMITED_HEADER, value)) return;
  const isOurs = value.equals(STOPPED);
  host.release(value);
  if (!isOurs) return;
  name.setBytes(RATELIMITED_HEADER);
  host.removeHeader(HeaderMap.RESPONSE, name);
}
