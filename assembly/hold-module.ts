// What the proxy calls in the module that holds answers, which only routes with `hold_response` have: it exports the
// callbacks of bodies and trailers, which would cost every other request a call each.

import "./abi/abort";
import { enter, leave } from "./abi/collector";
import { proxy_define_metric } from "./abi/imports";
import { View, encode } from "./bytes";
import { HOLD_COUNTER_NAMES, HoldCounter } from "./hold/counters";
import { readHoldConfiguration } from "./hold/read-configuration";
import { HoldSettings } from "./hold/settings";
import { ERROR, HoldProxy } from "./host/hold-proxy";
import {
  Attempt,
  onAttempt,
  onAttemptBody,
  onAttemptHeaders,
  onAttemptTrailers,
  onClientHeaders,
  release,
} from "./roles/hold";
import { Problem } from "./settings/problem";

export { malloc } from "./abi/memory";

const METRIC_COUNTER: i32 = 0;
/** The proxy goes on with headers, body and trailers. */
const CONTINUE: i32 = 0;
/** The proxy keeps headers until the body goes on. */
const HOLD_HEADERS: i32 = 1;
/**
 * The proxy keeps the body, and stops to read it where it holds more than its limit. (To buffer would be another
 * answer: then it fails the request at the limit, which a single large piece may exceed.)
 */
const HOLD_BODY: i32 = 2;

const proxy = new HoldProxy();
const configuration = new View();

/** Settings by root context: of the upstream role. */
const roots = new Map<u32, HoldSettings>();
/** Attempts whose responses are not through, by context. */
const attempts = new Map<u32, Attempt>();

// The proxy creates a stream's context right before it hands over the stream's headers, with nothing in between: these are
// the settings of the stream whose headers come next.
let settings: HoldSettings | null = null;

/** Tells the proxy which version of the ABI the module speaks. */
export function proxy_abi_version_0_2_1(): void {}

export function proxy_on_vm_start(root: u32, configurationSize: u32): bool {
  const ids = new StaticArray<u32>(HOLD_COUNTER_NAMES.length);
  for (let i = 0; i < ids.length; i++) {
    const name = encode(HOLD_COUNTER_NAMES[i]);
    proxy_define_metric(METRIC_COUNTER, changetype<usize>(name), name.length, changetype<usize>(ids) + 4 * i);
  }
  proxy.metrics = ids;
  return true;
}

/** A plugin without a configuration is the downstream role's. */
export function proxy_on_configure(root: u32, configurationSize: u32): bool {
  if (configurationSize == 0 || !proxy.configuration(configurationSize, configuration)) return true;
  const problem = new Problem();
  const read = readHoldConfiguration(configuration, problem);
  proxy.release(configuration);
  if (!problem.exists) roots.set(root, read);
  else {
    proxy.increment(HoldCounter.SETTINGS_ERROR);
    proxy.log(ERROR, "hold_response: " + problem.toString());
  }
  return true;
}

export function proxy_on_context_create(context: u32, root: u32): void {
  if (root != 0) settings = roots.has(root) ? roots.get(root) : null;
}

export function proxy_on_request_headers(context: u32, headers: u32, isComplete: bool): i32 {
  const current = settings;
  if (current == null) return CONTINUE;
  enter();
  const attempt = new Attempt(current);
  onAttempt(proxy, attempt);
  attempts.set(context, attempt);
  leave();
  return CONTINUE;
}

export function proxy_on_response_headers(context: u32, headers: u32, isComplete: bool): i32 {
  enter();
  let isHeld = false;
  if (!attempts.has(context)) onClientHeaders(proxy);
  else isHeld = onAttemptHeaders(proxy, attempts.get(context), isComplete);
  leave();
  return isHeld ? HOLD_HEADERS : CONTINUE;
}

export function proxy_on_response_body(context: u32, size: u32, isComplete: bool): i32 {
  if (!attempts.has(context)) return CONTINUE;
  enter();
  const isHeld = onAttemptBody(proxy, attempts.get(context), <i32>size, isComplete);
  leave();
  return isHeld ? HOLD_BODY : CONTINUE;
}

export function proxy_on_response_trailers(context: u32, trailers: u32): i32 {
  if (!attempts.has(context)) return CONTINUE;
  enter();
  onAttemptTrailers(proxy, attempts.get(context));
  leave();
  return CONTINUE;
}

/** A stream, or a root context, is gone. */
export function proxy_on_delete(context: u32): void {
  enter();
  if (attempts.has(context)) release(attempts.get(context));
  attempts.delete(context);
  roots.delete(context);
  leave();
}
