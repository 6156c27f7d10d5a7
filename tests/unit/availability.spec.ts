import { View, encode } from "../../assembly/bytes";
import { Candidates } from "../../assembly/decide/candidates";
import { HostState } from "../../assembly/decide/composite";
import { candidates as known, configureAvailability } from "../../assembly/availability/availability";
import { Counter } from "../../assembly/host/counters";
import { Prober } from "../../assembly/availability/prober";
import { onResponse } from "../../assembly/roles/response";
import { FakeHost } from "../../assembly/host/fake";
import { composite } from "./support/settings";
import { entry, join, listValue, numberValue, view } from "./support/wire";

const ROOT: u32 = 7;

function watch(candidates: Candidates, names: string[]): void {
  for (let i = 0; i < names.length; i++) candidates.watch(candidates.named(encode(names[i])));
}

/** Answers the call that has this token. */
function answer(host: FakeHost, prober: Prober, token: u32, status: string, body: string): void {
  host.callHeaders.set(":status", status);
  host.callBodyText = body;
  prober.answer(host, token, 3, body.length);
}

function stateOf(candidates: Candidates, name: string): HostState {
  return candidates.named(encode(name)).state;
}

function started(host: FakeHost, candidates: Candidates, names: string[]): Prober {
  watch(candidates, names);
  const prober = new Prober(candidates);
  prober.take(host, ROOT, 100);
  prober.tick(host, ROOT);
  return prober;
}

describe("the prober", () => {
  test("asks about every watched cluster and takes each answer", () => {
    const host = new FakeHost();
    const candidates = new Candidates();
    const prober = started(host, candidates, ["a", "b", "c", "d"]);
    expect(host.tickPeriod).toBe(100);
    expect(host.calls.join()).toBe("a,b,c,d");
    answer(host, prober, 3, "503", "");
    answer(host, prober, 1, "403", "RBAC: access denied");
    answer(host, prober, 2, "503", "no healthy upstream");
    answer(host, prober, 4, "504", "upstream request timeout");
    expect(stateOf(candidates, "a")).toBe(HostState.HAS_HOST);
    expect(stateOf(candidates, "b")).toBe(HostState.NO_HOST);
    expect(stateOf(candidates, "c")).toBe(HostState.NO_HOST);
    expect(stateOf(candidates, "d")).toBe(HostState.UNKNOWN);
    expect(host.count(Counter.CLUSTER_HAS_HOST)).toBe(1);
    expect(host.count(Counter.CLUSTER_WITHOUT_HOST)).toBe(2);
    expect(host.lent).toBe(0);
  });

  test("forgets what it knew when an answer says nothing, fails or does not come", () => {
    const host = new FakeHost();
    const candidates = new Candidates();
    const prober = started(host, candidates, ["a", "b", "c"]);
    for (let token = 1; token <= 3; token++) answer(host, prober, token, "503", "no healthy upstream");
    prober.tick(host, ROOT);
    prober.answer(host, 4, 0, 0);
    expect(stateOf(candidates, "a")).toBe(HostState.UNKNOWN);
    for (let i = 0; i < 40; i++) prober.tick(host, ROOT);
    expect(stateOf(candidates, "b")).toBe(HostState.UNKNOWN);
    expect(host.count(Counter.AVAILABILITY_LOST)).toBe(3);
    expect(host.calls.length).toBeGreaterThan(6);
    const before = host.calls.length;
    host.refusesCalls = true;
    for (let i = 0; i < 40; i++) prober.tick(host, ROOT);
    expect(host.calls.length).toBe(before);
  });

  test("does not ask again while a call is under way", () => {
    const host = new FakeHost();
    const prober = started(host, new Candidates(), ["a"]);
    prober.tick(host, ROOT);
    prober.tick(host, ROOT);
    expect(host.calls.length).toBe(1);
  });

  test("asks about many clusters a few at a time", () => {
    const host = new FakeHost();
    const names: string[] = [];
    for (let i = 0; i < 80; i++) names.push("c" + i.toString());
    const prober = started(host, new Candidates(), names);
    expect(host.calls.length).toBe(32);
    prober.tick(host, ROOT);
    prober.tick(host, ROOT);
    expect(host.calls.length).toBe(80);
    expect(host.count(Counter.AVAILABILITY_ROUNDS)).toBe(0);
    for (let token = 1; token <= 80; token++) answer(host, prober, token, "403", "");
    prober.tick(host, ROOT);
    expect(host.count(Counter.AVAILABILITY_ROUNDS)).toBe(1);
  });

  test("slows down where the probe cannot be reached, and comes back when it can", () => {
    const host = new FakeHost();
    const candidates = new Candidates();
    const prober = started(host, candidates, ["a"]);
    let token = 1;
    for (let i = 0; i < 1000; i++) {
      if (host.calls.length == token) {
        answer(host, prober, token, "503", "upstream connect error or disconnect/reset before headers");
        token++;
      }
      prober.tick(host, ROOT);
    }
    expect(host.calls.length).toBeLessThan(20);
    expect(host.count(Counter.AVAILABILITY_LOST)).toBe(0);
    for (let i = 0; i < 200 && host.calls.length < token; i++) prober.tick(host, ROOT);
    answer(host, prober, token, "403", "");
    prober.tick(host, ROOT);
    expect(host.calls.length).toBe(token + 1);
  });

  test("leaves it to the root context of the newest configuration", () => {
    const host = new FakeHost();
    const candidates = new Candidates();
    const prober = started(host, candidates, ["a"]);
    prober.take(host, ROOT + 1, 0);
    expect(host.tickPeriod).toBe(50);
    prober.tick(host, ROOT);
    expect(host.tickPeriod).toBe(0);
    expect(host.calls.length).toBe(1);
    prober.tick(host, ROOT + 1);
    expect(host.calls.length).toBe(2);
  });

  test("waits for something to watch", () => {
    const host = new FakeHost();
    const candidates = new Candidates();
    const prober = started(host, candidates, []);
    expect(host.tickPeriod).toBe(1000);
    watch(candidates, ["a"]);
    prober.tick(host, ROOT);
    expect(host.tickPeriod).toBe(100);
    expect(host.calls.length).toBe(1);
  });
});

describe("the configuration", () => {
  test("names what is watched from the start, and how often", () => {
    const host = new FakeHost();
    const settings = [
      entry("composite_clusters", listValue([composite("conf", ["conf-a", "conf-b"])])),
      entry("availability_interval_ms", numberValue(20)),
    ];
    const message = entry("attempt_router", join(settings));
    configureAvailability(host, ROOT, view(message), 1);
    expect(host.tickPeriod).toBe(20);
    expect(known.named(encode("conf-a")).watched).toBe(true);
    expect(known.named(encode("conf-b")).watched).toBe(false);
  });

  test("that is wrong is reported and changes nothing else", () => {
    const host = new FakeHost();
    configureAvailability(host, ROOT, view(entry("attempt_router", entry("nonsense", numberValue(1)))), 1);
    expect(host.count(Counter.SETTINGS_ERROR)).toBe(1);
    expect(host.logs[0].includes("configuration: nonsense")).toBe(true);
    configureAvailability(host, ROOT, new View(), 1);
    expect(host.logs.length).toBe(1);
  });
});

describe("a response that the proxy made because there is no cluster", () => {
  test("marks the cluster at once", () => {
    const host = new FakeHost();
    known.watch(known.named(encode("gone")));
    host.status = "503";
    host.set("response.code_details", "cluster_not_found");
    host.set("xds.cluster_name", "gone");
    onResponse(host);
    expect(stateOf(known, "gone")).toBe(HostState.NO_HOST);
    expect(host.count(Counter.AVAILABILITY_SIGNAL)).toBe(1);
    expect(host.lent).toBe(0);
  });

  test("another one does not", () => {
    const host = new FakeHost();
    known.watch(known.named(encode("busy")));
    host.status = "503";
    host.set("response.code_details", "via_upstream");
    host.set("xds.cluster_name", "busy");
    onResponse(host);
    host.set("response.code_details", "no_healthy_upstream");
    onResponse(host);
    host.status = "200";
    host.set("response.code_details", "cluster_not_found");
    onResponse(host);
    expect(stateOf(known, "busy")).toBe(HostState.UNKNOWN);
    expect(host.lent).toBe(0);
  });
});
