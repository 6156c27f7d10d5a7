import { Bytes, NOTHING, View, encode } from "../bytes";
import { Candidates } from "../decide/candidates";
import { Candidate, HostState } from "../decide/composite";
import { Host } from "../host/host";
import { AdminClusters } from "../wire/admin-clusters";
import { getRequest } from "../wire/header-writer";
import { Counter } from "../host/counters";
import { STATUS_HEADER } from "../host/names";
import { Pace } from "./pace";
import { learnState } from "./states";

const ADMIN_CLUSTER = encode("attempt_router_admin");
const PATH = "/clusters?filter=";
const LEASE = encode("attempt_router.lease");
const HOSTS = encode("attempt_router.hosts");
const OK = encode("200");

const DEFAULT_INTERVAL_MS: u32 = 250;
const REST_INTERVAL_MS: u32 = 1000;
/** The names travel in the path of a request, whose length Envoy limits. */
const NAMES_PER_REQUEST = 100;
const TIMEOUT_MS: u32 = 2000;
const LEASE_MS: u64 = 3000;
/** What is older is not believed. */
const OVERDUE_MS: u64 = 5000;
const LEASE_SIZE = 16;

const value = new View();
const lease: Bytes = new StaticArray<u8>(LEASE_SIZE);

/**
 * Reads which clusters have a host from the admin interface. Of the VMs that share a vm_id one does it, for as long as
 * it renews its lease; the others take over what it publishes.
 */
@final
export class Poller {
  readonly pace: Pace = new Pace();
  private intervalMs: u32 = DEFAULT_INTERVAL_MS;
  private me: u64 = 0;
  private isOpen: bool = false;
  private token: u32 = 0;
  private askedAt: u64 = 0;
  /** Range of the watched clusters that the open call asks about. */
  private from: i32 = 0;
  private to: i32 = 0;
  /** Number of watched clusters at the last tick. */
  private known: i32 = 0;
  /** Version of the published states that were taken over last. */
  private version: u32 = 0;

  constructor(private candidates: Candidates) {}

  /** From now on it is asked so often; 0 stands for the default. `me` tells this VM from the others. Returns the interval. */
  start(intervalMs: u32, me: u64): u32 {
    this.me = me;
    this.isOpen = false;
    this.intervalMs = intervalMs > 0 ? intervalMs : DEFAULT_INTERVAL_MS;
    this.pace.wake();
    return this.intervalMs;
  }

  /** Asks, or takes over what another one knows. `now` and the result, the time until the next tick, are in milliseconds. */
  tick(host: Host, now: u64): u32 {
    if (this.candidates.tick(<u32>(now / 1000))) {
      this.isOpen = false;
      this.to = 0;
    }
    if (this.candidates.watched.length != this.known) this.pace.wake();
    this.known = this.candidates.watched.length;
    this.takeOver(host, now);
    this.pace.tick(now);
    const isAnswered = !this.isOpen || now - this.askedAt >= 2 * <u64>TIMEOUT_MS;
    if (this.known > 0 && this.holdsLease(host, now) && isAnswered) this.ask(host, now);
    return this.pace.isCalm ? max(this.intervalMs, REST_INTERVAL_MS) : this.intervalMs;
  }

  answer(host: Host, token: u32, headers: u32, bodySize: u32): void {
    if (!this.isOpen || token != this.token) return;
    this.isOpen = false;
    if (headers == 0 || !isOk(host) || !host.callBody(bodySize, value)) {
      // Another worker may reach the interface where this one does not.
      this.writeLease(host, 0, 0);
      return;
    }
    this.read(host, value);
    host.release(value);
    if (this.to == this.candidates.watched.length) {
      this.to = 0;
      host.increment(Counter.AVAILABILITY_ROUNDS);
    }
    this.publish(host);
  }

  private holdsLease(host: Host, now: u64): bool {
    let cas: u32 = 0;
    if (host.sharedData(LEASE, value)) {
      cas = host.version;
      const isLease = value.length == LEASE_SIZE;
      const stamp = isLease ? load<u64>(value.ptr) : 0;
      const owner = isLease ? load<u64>(value.ptr, 8) : 0;
      host.release(value);
      if (owner != this.me && now - stamp < LEASE_MS) return false;
    }
    return this.writeLease(host, now, cas);
  }

  private writeLease(host: Host, stamp: u64, cas: u32): bool {
    store<u64>(changetype<usize>(lease), stamp);
    store<u64>(changetype<usize>(lease), stamp == 0 ? 0 : this.me, 8);
    return host.setSharedData(LEASE, lease, cas);
  }

  private ask(host: Host, now: u64): void {
    const watched = this.candidates.watched;
    this.from = this.to < watched.length ? this.to : 0;
    this.to = min(this.from + NAMES_PER_REQUEST, watched.length);
    const path = encode(PATH + filterOf(watched, this.from, this.to));
    const headers = getRequest(path, ADMIN_CLUSTER, NOTHING, NOTHING);
    this.isOpen = host.httpCall(ADMIN_CLUSTER, headers, TIMEOUT_MS);
    this.token = host.callToken;
    this.askedAt = now;
  }

  // What is not in the text does not exist.
  private read(host: Host, text: View): void {
    const watched = this.candidates.watched;
    const count = this.to - this.from;
    const usable = new StaticArray<bool>(count);
    const lines = new AdminClusters(text);
    let latest = 0;
    while (lines.next()) {
      for (let i = 0; i < count; i++) {
        const index = (latest + i) % count;
        if (!lines.isAbout(watched[this.from + index].name)) continue;
        latest = index;
        if (lines.isUsable()) usable[index] = true;
        break;
      }
    }
    for (let i = 0; i < count; i++) {
      this.learn(host, watched[this.from + i], usable[i] ? HostState.HAS_HOST : HostState.NO_HOST);
    }
  }

  // 8 bytes of time, then for each cluster its state, the length of its name in 2 bytes, and the name.
  private publish(host: Host): void {
    const watched = this.candidates.watched;
    let size = 8;
    for (let i = 0; i < watched.length; i++) size += 3 + watched[i].name.length;
    const bytes = new StaticArray<u8>(size);
    let at = changetype<usize>(bytes);
    store<u64>(at, host.now() / 1_000_000);
    at += 8;
    for (let i = 0; i < watched.length; i++) {
      const name = watched[i].name;
      store<u8>(at, <u8>watched[i].state);
      store<u16>(at, <u16>name.length, 1);
      memory.copy(at + 3, changetype<usize>(name), name.length);
      at += 3 + <usize>name.length;
    }
    host.setSharedData(HOSTS, bytes, 0);
  }

  private learn(host: Host, candidate: Candidate, state: HostState): void {
    if (learnState(host, candidate, state)) this.pace.wake();
  }

  private takeOver(host: Host, now: u64): void {
    if (!host.sharedData(HOSTS, value)) return;
    const isNew = host.version != this.version;
    this.version = host.version;
    if (value.length >= 8 && now - load<u64>(value.ptr) > OVERDUE_MS) this.forgetAll(host);
    else if (isNew && value.length >= 8) this.readStates(host, value);
    host.release(value);
  }

  private readStates(host: Host, published: View): void {
    const name = new View();
    let at = published.ptr + 8;
    const end = published.ptr + <usize>published.length;
    while (at + 3 <= end) {
      const state = load<u8>(at);
      name.set(at + 3, load<u16>(at, 1));
      at += 3 + <usize>name.length;
      if (at > end) return;
      const candidate = this.candidates.findWatched(name);
      if (candidate != null && state != <u8>HostState.UNKNOWN) this.learn(host, candidate, <HostState>state);
    }
  }

  private forgetAll(host: Host): void {
    const watched = this.candidates.watched;
    for (let i = 0; i < watched.length; i++) this.learn(host, watched[i], HostState.UNKNOWN);
  }
}

function isOk(host: Host): bool {
  if (!host.callHeader(STATUS_HEADER, value)) return false;
  const ok = value.equals(OK);
  host.release(value);
  return ok;
}

/** The expression `^(?:a|b)$` for these names, escaped for RE2 and then for a query. */
function filterOf(watched: Candidate[], from: i32, to: i32): string {
  let text = "%5E(?:";
  for (let i = from; i < to; i++) text += (i > from ? "%7C" : "") + escape(watched[i].name);
  return text + ")%24";
}

function escape(name: Bytes): string {
  let text = "";
  for (let i = 0; i < name.length; i++) {
    const char = name[i];
    const isWord =
      (char >= 0x30 && char <= 0x39) ||
      (char >= 0x41 && char <= 0x5a) ||
      (char >= 0x61 && char <= 0x7a) ||
      char == 0x5f;
    // A byte outside of ASCII is a word of its own to RE2; a mark of punctuation needs a backslash.
    if (isWord) text += String.fromCharCode(char);
    else text += (char < 0x80 ? "%5C%" : "%") + hex(char);
  }
  return text;
}

const DIGITS = "0123456789ABCDEF";

function hex(char: u8): string {
  return DIGITS.charAt(char >> 4) + DIGITS.charAt(char & 15);
}
