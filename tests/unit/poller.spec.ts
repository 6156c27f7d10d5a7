import { encode } from "../../assembly/bytes";
import { Candidates } from "../../assembly/decide/candidates";
import { HostState } from "../../assembly/decide/composite";
import { Counter } from "../../assembly/host/counters";
import { Poller } from "../../assembly/availability/poller";
import { FakeHost } from "../../assembly/host/fake";

const SECOND: u64 = 1_000_000_000;

function watching(names: string[]): Candidates {
  const candidates = new Candidates();
  for (let i = 0; i < names.length; i++) candidates.watch(candidates.named(encode(names[i])));
  return candidates;
}

function stateOf(candidates: Candidates, name: string): HostState {
  return candidates.named(encode(name)).state;
}

function tick(host: FakeHost, poller: Poller): u32 {
  return poller.tick(host, host.time / 1_000_000);
}

function started(host: FakeHost, candidates: Candidates, me: u64): Poller {
  const poller = new Poller(candidates);
  poller.start(0, me);
  host.time = 100 * SECOND;
  tick(host, poller);
  return poller;
}

function answer(host: FakeHost, poller: Poller, status: string, body: string): void {
  host.callHeaders.set(":status", status);
  host.callBodyText = body;
  poller.answer(host, host.callToken, 3, body.length);
}

/** A worker that shares data with another. */
function beside(other: FakeHost): FakeHost {
  const host = new FakeHost();
  host.shared = other.shared;
  host.versions = other.versions;
  host.time = other.time;
  return host;
}

const TEXT =
  "a::observability_name::a\na::10.0.0.1:80::health_flags::healthy\na::10.0.0.2:80::health_flags::/failed_active_hc\n" +
  "ab::observability_name::ab\nab::10.0.0.3:80::health_flags::/failed_active_hc\n" +
  "d::observability_name::d\nd::10.0.0.4:80::health_flags::/degraded_active_hc\nempty::observability_name::empty\n";

describe("the poller", () => {
  test("takes the states out of the admin text, and shares them", () => {
    const host = new FakeHost();
    const candidates = watching(["ab", "a", "d", "empty", "nowhere"]);
    const poller = started(host, candidates, 1);
    answer(host, poller, "200", TEXT);
    expect(stateOf(candidates, "a")).toBe(HostState.HAS_HOST);
    expect(stateOf(candidates, "ab")).toBe(HostState.NO_HOST);
    expect(stateOf(candidates, "d")).toBe(HostState.HAS_HOST);
    expect(stateOf(candidates, "empty")).toBe(HostState.NO_HOST);
    expect(stateOf(candidates, "nowhere")).toBe(HostState.NO_HOST);
    expect(host.count(Counter.AVAILABILITY_ROUNDS)).toBe(1);
    expect(host.lent).toBe(0);

    const other = beside(host);
    const others = watching(["a", "empty", "later"]);
    const follower = new Poller(others);
    follower.start(0, 2);
    tick(other, follower);
    expect(other.calls.length).toBe(0);
    expect(stateOf(others, "a")).toBe(HostState.HAS_HOST);
    expect(stateOf(others, "empty")).toBe(HostState.NO_HOST);
    expect(stateOf(others, "later")).toBe(HostState.UNKNOWN);
    expect(other.lent).toBe(0);
  });

  test("takes over where the one that polled is gone, and then believes nothing old", () => {
    const host = new FakeHost();
    const poller = started(host, watching(["a"]), 1);
    answer(host, poller, "200", TEXT);
    const other = beside(host);
    const others = watching(["a"]);
    const follower = new Poller(others);
    follower.start(0, 2);
    tick(other, follower);
    expect(stateOf(others, "a")).toBe(HostState.HAS_HOST);
    other.time += 6 * SECOND;
    tick(other, follower);
    expect(stateOf(others, "a")).toBe(HostState.UNKNOWN);
    expect(other.calls.length).toBe(1);
    host.time = other.time;
    tick(host, poller);
    expect(host.calls.length).toBe(1);
  });

  test("takes over no state that the one that polls does not know", () => {
    const host = new FakeHost();
    const names: string[] = [];
    for (let i = 0; i < 101; i++) names.push("c" + i.toString());
    const poller = started(host, watching(names), 1);
    answer(host, poller, "200", "c0::observability_name::c0\nc0::10.0.0.1:80::health_flags::healthy\n");
    const other = beside(host);
    const others = watching(["c0", "c100"]);
    others.named(encode("c100")).state = HostState.HAS_HOST;
    const follower = new Poller(others);
    follower.start(0, 2);
    tick(other, follower);
    expect(stateOf(others, "c0")).toBe(HostState.HAS_HOST);
    expect(stateOf(others, "c100")).toBe(HostState.HAS_HOST);
    expect(other.count(Counter.AVAILABILITY_LOST)).toBe(0);
  });

  test("gives the lease up when it cannot reach the interface", () => {
    const host = new FakeHost();
    const poller = started(host, watching(["a"]), 1);
    answer(host, poller, "503", "upstream connect error");
    const other = beside(host);
    const follower = new Poller(watching(["a"]));
    follower.start(0, 2);
    tick(other, follower);
    expect(other.calls.length).toBe(1);
  });

  test("asks for exact names, a hundred at a time", () => {
    const host = new FakeHost();
    const names: string[] = [];
    for (let i = 0; i < 150; i++) names.push("c" + i.toString());
    names[0] = "a.b|c d";
    const poller = started(host, watching(names), 1);
    expect(host.paths[0].startsWith("/clusters?filter=%5E(?:a%5C%2Eb%5C%7Cc%5C%20d%7Cc1%7C")).toBe(true);
    expect(host.paths[0].endsWith("%7Cc99)%24")).toBe(true);
    answer(host, poller, "200", "");
    expect(host.count(Counter.AVAILABILITY_ROUNDS)).toBe(0);
    tick(host, poller);
    expect(host.paths[1].startsWith("/clusters?filter=%5E(?:c100%7C")).toBe(true);
    answer(host, poller, "200", "");
    expect(host.count(Counter.AVAILABILITY_ROUNDS)).toBe(1);
  });

  test("asks once a second at rest, and four times while something changes", () => {
    const host = new FakeHost();
    const poller = started(host, watching(["a"]), 1);
    answer(host, poller, "200", TEXT);
    expect(tick(host, poller)).toBe(250);
    for (let i = 0; i < 6; i++) {
      answer(host, poller, "200", TEXT);
      host.time += SECOND;
      tick(host, poller);
    }
    expect(tick(host, poller)).toBe(1000);
    answer(host, poller, "200", "");
    expect(tick(host, poller)).toBe(250);
  });
});
