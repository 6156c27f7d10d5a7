// Both roles of holding answers. The upstream role, last to see an attempt's response before the router does, holds it and may
// change its status; the downstream role gives a response that was changed, and was not retried, its own status back.

import { Bytes, NOTHING, View, encode } from "../bytes";
import { HeldAnswer, Verdict } from "../hold/answer";
import { HoldCounter } from "../hold/counters";
import { httpStatusOf } from "../hold/grpc-status";
import { framingOf, isGrpc, mediaType } from "../hold/media-type";
import { HoldSettings } from "../hold/settings";
import { Framing } from "../hold/splitter";
import { HoldProxy, WARN } from "../host/hold-proxy";
import { decimal } from "../text";

const METHOD = encode(":method");
const STATUS = encode(":status");
const CONTENT_TYPE = encode("content-type");
const CONTENT_ENCODING = encode("content-encoding");
const GRPC_STATUS = encode("grpc-status");
const HEAD = encode("HEAD");
const CONNECT = encode("CONNECT");
const IDENTITY = encode("identity");
/** The status that a response had before it was changed; the client never sees the header. */
const HELD = encode("x-attempt-router-held");
/** Behind the status: the header `grpc-status` was added, too. */
const WITH_GRPC: u8 = 0x67;

const value = new View();

/** An attempt, from its request on. */
@final
export class Attempt {
  /** Its response is held, and judged by this. */
  held: HeldAnswer | null = null;
  /** Its response has no body of content, whatever its headers say. */
  hasNoContent: bool = false;
  isGrpc: bool = false;

  constructor(readonly settings: HoldSettings) {}
}

/** An attempt begins. */
export function onAttempt(proxy: HoldProxy, attempt: Attempt): void {
  if (!proxy.requestHeader(METHOD, value)) return;
  attempt.hasNoContent = value.equals(HEAD) || value.equals(CONNECT);
  proxy.release(value);
}

/** The headers of an attempt's response. Whether they are held. */
export function onAttemptHeaders(proxy: HoldProxy, attempt: Attempt, isComplete: bool): bool {
  // Nobody but this role may say what a status was.
  proxy.removeResponseHeader(HELD);
  if (attempt.hasNoContent || !mayHaveContent(proxy)) return false;
  if (isEncoded(proxy)) {
    proxy.increment(HoldCounter.ENCODED);
    return false;
  }
  const type = typeOf(proxy);
  attempt.isGrpc = isGrpc(type);
  // A gRPC response without a message may have its status there, where the router looks for it.
  if (attempt.isGrpc && (isComplete || hasGrpcStatus(proxy))) return false;
  const settings = attempt.settings;
  const status = settings.statusOf(type);
  if (status > 0) return change(proxy, Verdict.ERROR, status);
  if (isComplete) return settings.empty > 0 && change(proxy, Verdict.EMPTY, settings.empty);
  const framing = framingOf(type);
  attempt.held = new HeldAnswer(settings, framing, settings.errorsOf(type, framing != Framing.NONE));
  return true;
}

/** The next `size` bytes of the body of an attempt's response. Whether they are held. */
export function onAttemptBody(proxy: HoldProxy, attempt: Attempt, size: i32, isComplete: bool): bool {
  const held = attempt.held;
  if (held == null) return false;
  // What comes before the trailers of gRPC is a message.
  const verdict = attempt.isGrpc && size > 0 ? Verdict.LET_GO : look(proxy, held, size, isComplete);
  if (verdict == Verdict.HOLD) return true;
  release(attempt);
  if (verdict == Verdict.TOO_LARGE) proxy.increment(HoldCounter.TOO_LARGE);
  else if (verdict != Verdict.LET_GO) change(proxy, verdict, held.status);
  return false;
}

/** The trailers of an attempt's response: its body is complete. */
export function onAttemptTrailers(proxy: HoldProxy, attempt: Attempt): void {
  const status = attempt.held != null && attempt.isGrpc ? readGrpcStatus(proxy) : 0;
  if (status == 0) onAttemptBody(proxy, attempt, 0, true);
  else {
    release(attempt);
    change(proxy, Verdict.ERROR, status, true);
  }
}

/** An attempt is over, or none of its response is held any more. */
export function release(attempt: Attempt): void {
  const held = attempt.held;
  if (held != null) held.release();
  attempt.held = null;
}

function look(proxy: HoldProxy, held: HeldAnswer, size: i32, isComplete: bool): Verdict {
  const wanted = min(size, held.room);
  if (wanted > 0 && !proxy.responseBody(wanted, value)) return Verdict.LET_GO;
  const verdict = held.look(value, size, isComplete);
  proxy.release(value);
  return verdict;
}

// The HTTP status of the `grpc-status` in the trailers, which is then in the headers, too: the router reads it there. 0: OK, or none.
function readGrpcStatus(proxy: HoldProxy): i32 {
  if (!proxy.responseTrailer(GRPC_STATUS, value)) return 0;
  const status = httpStatusOf(value);
  if (status > 0) proxy.replaceResponseHeader(GRPC_STATUS, value.ptr, value.length);
  proxy.release(value);
  return status;
}

/** The headers of the response on its way to the client: what was changed for the router is as it was again. */
export function onClientHeaders(proxy: HoldProxy): void {
  if (!proxy.responseHeader(HELD, value)) return;
  let digits = value.length;
  if (digits > 0 && value.at(digits - 1) == WITH_GRPC) {
    digits--;
    proxy.removeResponseHeader(GRPC_STATUS);
  }
  proxy.replaceResponseHeader(STATUS, value.ptr, digits);
  proxy.release(value);
  proxy.removeResponseHeader(HELD);
  proxy.increment(HoldCounter.RESTORED);
}

// Gives a response another status, by which the router decides about a retry. False: it is not held any more.
function change(proxy: HoldProxy, verdict: Verdict, status: i32, withGrpc: bool = false): bool {
  proxy.increment(verdict == Verdict.EMPTY ? HoldCounter.EMPTY : HoldCounter.ERROR);
  reportOnce(proxy, verdict, status);
  const held = new View();
  if (!proxy.responseHeader(STATUS, held)) return false;
  const was = held.copy();
  proxy.release(held);
  const before: Bytes = new StaticArray<u8>(was.length + <i32>withGrpc);
  memory.copy(changetype<usize>(before), changetype<usize>(was), was.length);
  if (withGrpc) before[was.length] = WITH_GRPC;
  proxy.replaceResponseHeader(HELD, changetype<usize>(before), before.length);
  const now = encode(decimal(status));
  proxy.replaceResponseHeader(STATUS, changetype<usize>(now), now.length);
  return false;
}

let reported: u32 = 0;

// Providers may cause it with every request, and counters tell how often.
function reportOnce(proxy: HoldProxy, verdict: Verdict, status: i32): void {
  const bit = 1 << (<u32>verdict);
  if ((reported & bit) != 0) return;
  reported |= bit;
  const what = verdict == Verdict.EMPTY ? "ended without content" : "reports an error";
  proxy.log(WARN, "hold_response: a response with status 200 " + what + ", it counts as " + decimal(status));
}

// Whether the status is 2xx, and not one of those that forbid a body.
function mayHaveContent(proxy: HoldProxy): bool {
  if (!proxy.responseHeader(STATUS, value)) return false;
  const number = value.length == 3 ? load<u8>(value.ptr) : 0;
  const last = value.length == 3 ? load<u16>(value.ptr + 1) : 0;
  proxy.release(value);
  return number == TWO && last != OF_204 && last != OF_205;
}

const TWO: u8 = 0x32;
/** "04" and "05" as little-endian words. */
const OF_204: u16 = 0x3430;
const OF_205: u16 = 0x3530;

function hasGrpcStatus(proxy: HoldProxy): bool {
  if (!proxy.responseHeader(GRPC_STATUS, value)) return false;
  proxy.release(value);
  return true;
}

function isEncoded(proxy: HoldProxy): bool {
  if (!proxy.responseHeader(CONTENT_ENCODING, value)) return false;
  const encoded = value.length > 0 && !value.equals(IDENTITY);
  proxy.release(value);
  return encoded;
}

function typeOf(proxy: HoldProxy): Bytes {
  if (!proxy.responseHeader(CONTENT_TYPE, value)) return NOTHING;
  const type = mediaType(value);
  proxy.release(value);
  return type;
}
