// What the proxy calls, wired to the parts.

import "./abi/abort";
import "./abi/literals";
import { enter, leave } from "./abi/collector";
import { proxy_define_metric, random_get } from "./abi/imports";
import { Bytes, View, encode } from "./bytes";
import { onDownstreamResponse } from "./roles/apply-transforms";
import { configureAvailability, onCallResponse, onTick } from "./availability/availability";
import { Plan } from "./decide/plan";
import { BEAT_MS, beat } from "./availability/heartbeat";
import { AwaitedResponses } from "./roles/awaited-responses";
import { COUNTER_NAMES } from "./host/counters";
import { onDownstreamRequest } from "./roles/downstream";
import { followPlan } from "./roles/picks";
import { internalRandom, seedRandom } from "./roles/random-value";
import { onLastAnswer } from "./roles/last-answer";
import { Role, Roles, readRole } from "./roles/role";
import { readPluginPlan } from "./roles/route-plan";
import { onResponse } from "./roles/response";
import { onUpstreamRequest, onUpstreamResponse } from "./roles/upstream";
import { Envoy } from "./host/envoy";
import { LogLevel } from "./host/host";

import "./specifiers/registry";

export { malloc } from "./abi/memory";

const METRIC_COUNTER: i32 = 0;
const CONTINUE: i32 = 0;

const host = new Envoy();
const roles = new Roles();
const responses = new AwaitedResponses();
const configuration = new View();

// The proxy creates a stream's context right before it hands over the stream's headers, with nothing in between: this
// is the role of the stream whose headers come next.
let role = Role.UNKNOWN;

// Tells this VM from the others.
let me: u64 = 0;

// The settings of all requests, where this VM is that of a plugin for them (`ModuleSettings.route`).
let ownPlan: Plan | null = null;

/** Tells the proxy which version of the ABI the module speaks. */
export function proxy_abi_version_0_2_1(): void {}

export function proxy_on_vm_start(root: u32, configurationSize: u32): bool {
  host.metrics = defineCounters();
  const seed: Bytes = new StaticArray<u8>(8);
  random_get(changetype<usize>(seed), seed.length);
  me = load<u64>(changetype<usize>(seed));
  seedRandom(me);
  return true;
}

export function proxy_on_configure(root: u32, configurationSize: u32): bool {
  const learned = roles.learn(root, host);
  if (learned == Role.DOWNSTREAM) configure(root, configurationSize);
  if (learned != Role.UNKNOWN) return true;
  host.log(LogLevel.ERROR, "root_id: expected downstream or upstream");
  return false;
}

export function proxy_on_context_create(context: u32, root: u32): void {
  if (root == 0) return;
  role = roles.roleOf(root, host);
  responses.begin(context);
}

export function proxy_on_request_headers(context: u32, headers: u32, endOfStream: bool): i32 {
  enter();
  const plan = ownPlan;
  if (plan != null) followPlan(host, plan, internalRandom());
  else if (role == Role.UPSTREAM && onUpstreamRequest(host)) responses.expect(context, role);
  else if (role == Role.DOWNSTREAM) responses.expect(context, onDownstreamRequest(host));
  leave();
  return CONTINUE;
}

export function proxy_on_response_headers(context: u32, headers: u32, endOfStream: bool): i32 {
  enter();
  onResponse(host);
  const awaiting = responses.isForgotten(context) ? forgottenRole() : responses.awaiting(context);
  if (awaiting == Role.UPSTREAM) onUpstreamResponse(host);
  else if (awaiting != Role.UNKNOWN) onDownstreamResponse(host);
  if (awaiting == Role.WATCHER) onLastAnswer(host);
  leave();
  return CONTINUE;
}

// Of a stream that is no longer told apart, the route's settings say whether its answers are watched.
function forgottenRole(): Role {
  const found = readRole(host);
  return found == Role.DOWNSTREAM ? Role.WATCHER : found;
}

export function proxy_on_tick(root: u32): void {
  enter();
  beat(host);
  if (ownPlan == null) onTick(host, root);
  leave();
}

export function proxy_on_http_call_response(root: u32, token: u32, headers: u32, bodySize: u32, trailers: u32): void {
  enter();
  onCallResponse(host, token, headers, bodySize);
  leave();
}

function configure(root: u32, size: u32): void {
  configuration.set(0, 0);
  if (size > 0) host.configuration(size, configuration);
  ownPlan = readPluginPlan(host, configuration);
  if (ownPlan == null) configureAvailability(host, root, configuration, me);
  else host.setTickPeriod(BEAT_MS);
  if (configuration.ptr != 0) host.release(configuration);
}

function defineCounters(): StaticArray<u32> {
  const ids = new StaticArray<u32>(COUNTER_NAMES.length);
  for (let i = 0; i < ids.length; i++) {
    const name = encode(COUNTER_NAMES[i]);
    proxy_define_metric(METRIC_COUNTER, changetype<usize>(name), name.length, changetype<usize>(ids) + 4 * i);
  }
  return ids;
}
