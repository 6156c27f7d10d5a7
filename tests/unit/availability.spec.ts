import { View, encode } from "../../assembly/bytes";
import { Candidates } from "../../assembly/decide/candidates";
import { HostState } from "../../assembly/decide/composite";
import {
  candidates as known,
  configureAvailability,
  onCallResponse,
  onTick,
} from "../../assembly/availability/availability";
import { Counter } from "../../assembly/host/counters";
import { CompositeCluster } from "../../assembly/proto/attempt_router/v1/CompositeCluster";
import { ClusterEntry } from "../../assembly/proto/attempt_router/v1/CompositeCluster/ClusterEntry";
import { compileComposites } from "../../assembly/settings/composites";
import { Prober } from "../../assembly/availability/prober";
import { onResponse } from "../../assembly/roles/response";
import { FakeHost } from "../../assembly/host/fake";
import { composite } from "./support/settings";
import { entry, join, listValue, numberValue, view } from "./support/wire";

const ROOT: u32 = 7;
const SECOND: u64 = 1_000_000_000;
const MS: u64 = 1_000_000;

function compositeOf(name: string, clusters: string[]): CompositeCluster {
  const message = new CompositeCluster();
  message.name = name;
  for (let i = 0; i < clusters.length; i++) message.clusters.push(new ClusterEntry(clusters[i]));
  return message;
}

/** The configuration of a listener that watches one cluster. */
function watching(name: string): Uint8Array {
  return entry("attempt_router", entry("composite_clusters", listValue([composite("k", [name, "last"])])));
}

function viewOf(text: string): View {
  const view = new View();
  view.setBytes(encode(text));
  return view;
}

function onCall(host: FakeHost, token: i32): void {
  host.callHeaders.set(":status", "403");
  onCallResponse(host, token, 3, 0);
}

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
  prober.start(100);
  tick(host, prober);
  return prober;
}

/** Lets the prober tick when it wants to, and returns how long it wants to wait for the next time. */
function tick(host: FakeHost, prober: Prober): u32 {
  const period = prober.tick(host, host.time / 1_000_000);
  host.time += <u64>period * 1_000_000;
  return period;
}

/** Ticks for so many milliseconds, with every question answered at once. Returns the number of questions. */
function askFor(host: FakeHost, prober: Prober, milliseconds: u64, status: string = "403"): i32 {
  const end = host.time + milliseconds * 1_000_000;
  const before = host.calls.length;
  let answered = before;
  while (host.time < end) {
    tick(host, prober);
    for (; answered < host.calls.length; answered++) answer(host, prober, answered + 1, status, "");
  }
  return host.calls.length - before;
}

function names(count: i32): string[] {
  const all: string[] = [];
  for (let i = 0; i < count; i++) all.push("c" + i.toString());
  return all;
}

describe("the prober", () => {
  test("asks about every watched cluster and takes each answer", () => {
    const host = new FakeHost();
    const candidates = new Candidates();
    const prober = started(host, candidates, ["a", "b", "c", "d"]);
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
    tick(host, prober);
    prober.answer(host, 4, 0, 0);
    expect(stateOf(candidates, "a")).toBe(HostState.UNKNOWN);
    for (let i = 0; i < 40; i++) tick(host, prober);
    expect(stateOf(candidates, "b")).toBe(HostState.UNKNOWN);
    expect(host.count(Counter.AVAILABILITY_LOST)).toBe(3);
    expect(host.calls.length).toBeGreaterThan(6);
    const before = host.calls.length;
    host.refusesCalls = true;
    for (let i = 0; i < 40; i++) tick(host, prober);
    expect(host.calls.length).toBe(before);
  });

  test("believes an answer for two rounds at rest and the time of a call, and no longer", () => {
    const host = new FakeHost();
    const candidates = new Candidates();
    const prober = started(host, candidates, ["a"]);
    answer(host, prober, 1, "403", "");
    // Answered at 0 ms; two rounds are 1000 ms, and a call may take 1500 ms.
    while (host.time <= 2500 * MS) tick(host, prober);
    expect(stateOf(candidates, "a")).toBe(HostState.HAS_HOST);
    tick(host, prober);
    expect(stateOf(candidates, "a")).toBe(HostState.UNKNOWN);
    expect(host.count(Counter.AVAILABILITY_LOST)).toBe(1);
  });

  test("believes an answer longer where more clusters share the rounds", () => {
    const host = new FakeHost();
    const candidates = new Candidates();
    const prober = started(host, candidates, names(20));
    for (let token = 1; token <= 20; token++) answer(host, prober, token, "403", "");
    // Two rounds of two ticks each.
    while (host.time <= 3500 * MS) tick(host, prober);
    expect(host.count(Counter.AVAILABILITY_LOST)).toBe(0);
    tick(host, prober);
    expect(host.count(Counter.AVAILABILITY_LOST)).toBe(20);
  });

  test("does not ask again while a call is under way", () => {
    const host = new FakeHost();
    const prober = started(host, new Candidates(), ["a"]);
    tick(host, prober);
    tick(host, prober);
    expect(host.calls.length).toBe(1);
  });

  test("asks about many clusters a few at a time", () => {
    const host = new FakeHost();
    const prober = started(host, new Candidates(), names(80));
    expect(host.calls.length).toBe(32);
    tick(host, prober);
    tick(host, prober);
    expect(host.calls.length).toBe(80);
    expect(host.count(Counter.AVAILABILITY_ROUNDS)).toBe(0);
    for (let token = 1; token <= 80; token++) answer(host, prober, token, "403", "");
    tick(host, prober);
    expect(host.count(Counter.AVAILABILITY_ROUNDS)).toBe(1);
  });

  test("slows down where the probe cannot be reached, and comes back when it can", () => {
    const host = new FakeHost();
    const candidates = new Candidates();
    const prober = started(host, candidates, ["a"]);
    let token = 1;
    for (let i = 0; i < 300; i++) {
      if (host.calls.length == token) {
        answer(host, prober, token, "503", "upstream connect error or disconnect/reset before headers");
        token++;
      }
      tick(host, prober);
    }
    expect(host.calls.length).toBeLessThan(40);
    expect(host.count(Counter.AVAILABILITY_LOST)).toBe(0);
    for (let i = 0; i < 100 && host.calls.length < token; i++) tick(host, prober);
    answer(host, prober, token, "403", "");
    tick(host, prober);
    expect(host.calls.length).toBe(token + 1);
  });

  test("asks a hundred clusters at most forty times a second at rest, fast while something changes", () => {
    const host = new FakeHost();
    const candidates = new Candidates();
    const prober = started(host, candidates, names(100));
    expect(askFor(host, prober, 4000)).toBeGreaterThan(900);
    askFor(host, prober, 4000);
    expect(askFor(host, prober, 10_000)).toBe(400);
    expect(askFor(host, prober, 3000, "503")).toBeGreaterThan(500);
    askFor(host, prober, 6000, "503");
    expect(askFor(host, prober, 10_000, "503")).toBe(400);
  });

  test("asks no more for thousands of clusters at rest than for a hundred", () => {
    const host = new FakeHost();
    const prober = started(host, new Candidates(), names(5000));
    askFor(host, prober, 30_000);
    expect(askFor(host, prober, 125_000)).toBeLessThan(5001);
    expect(host.count(Counter.AVAILABILITY_LOST)).toBe(0);
  });

  test("asks at once about a cluster that a request needs to know of", () => {
    const host = new FakeHost();
    const candidates = new Candidates();
    const prober = started(host, candidates, names(5000));
    askFor(host, prober, 30_000);
    prober.urgent = candidates.named(encode("c4999"));
    tick(host, prober);
    expect(host.calls.includes("c4999", host.calls.length - 40)).toBe(true);
  });

  test("stays calm where answers say nothing", () => {
    const host = new FakeHost();
    const prober = started(host, new Candidates(), names(10));
    askFor(host, prober, 10_000, "504");
    expect(askFor(host, prober, 10_000, "504")).toBe(200);
  });
});

describe("what is remembered", () => {
  test("ends where no request and no configuration names it for minutes", () => {
    const host = new FakeHost();
    host.time = 1000 * SECOND;
    const candidates = new Candidates();
    candidates.tick(1000);
    const used = compileComposites([compositeOf("k", ["a", "b", "last"])], true, candidates);
    for (let i = 0; i < 1000; i++)
      compileComposites([compositeOf("k", ["a", "old" + i.toString(), "x"])], true, candidates);
    const prober = started(host, candidates, []);
    expect(askFor(host, prober, 10_000)).toBeGreaterThan(1000);
    for (let i = 0; i < 400; i++) {
      candidates.use(used);
      askFor(host, prober, 1000);
    }
    expect(candidates.watched.length).toBe(2);
    expect(askFor(host, prober, 10_000)).toBe(40);
    expect(stateOf(candidates, "a")).toBe(HostState.HAS_HOST);
  });

  test("begins anew where it is named again", () => {
    const candidates = new Candidates();
    candidates.tick(1000);
    const list = compileComposites([compositeOf("k", ["a", "b"])], true, candidates);
    const before = candidates.named(encode("a"));
    before.state = HostState.NO_HOST;
    expect(candidates.tick(1400)).toBe(true);
    expect(candidates.watched.length).toBe(0);
    expect(before.state).toBe(HostState.UNKNOWN);
    candidates.use(list);
    expect(candidates.watched.length).toBe(1);
    expect(candidates.findWatched(viewOf("a")) == before).toBe(true);
  });

  test("is bounded in bytes, and makes place for others in time", () => {
    const candidates = new Candidates();
    candidates.tick(1000);
    const long = "n".repeat(1000);
    for (let i = 0; i < 5000; i++) compileComposites([compositeOf("k", [long + i.toString(), "b"])], true, candidates);
    const most = candidates.watched.length;
    expect(most).toBeGreaterThan(1500);
    expect(most).toBeLessThan(2500);
    candidates.tick(1400);
    compileComposites([compositeOf("k", [long, "b"])], true, candidates);
    expect(candidates.watched.length).toBe(1);
  });

  test("is found by name, however many there are", () => {
    const candidates = new Candidates();
    for (let i = 0; i < 10_000; i++) candidates.watch(candidates.named(encode("c" + i.toString())));
    expect(candidates.watched.length).toBe(10_000);
    let found = 0;
    for (let i = 0; i < 10_000; i++)
      found += i32(candidates.findWatched(viewOf("c" + i.toString())) == candidates.watched[i]);
    expect(found).toBe(10_000);
    expect(candidates.findWatched(viewOf("c")) == null).toBe(true);
  });
});

describe("a virtual machine with several root contexts", () => {
  test("lets the newest one ask, and another when that one is gone", () => {
    const host = new FakeHost();
    host.time = 1000 * SECOND;
    configureAvailability(host, ROOT, view(watching("shared")), 1);
    configureAvailability(host, ROOT + 1, view(watching("shared")), 1);
    onTick(host, ROOT + 1);
    expect(host.tickPeriod).toBe(50);
    const asked = host.calls.length;
    onTick(host, ROOT);
    expect(host.tickPeriod).toBe(1000);
    expect(host.calls.length).toBe(asked);
    host.time += 5 * SECOND;
    onTick(host, ROOT);
    expect(host.calls.length).toBeGreaterThan(asked);
    onTick(host, 99);
    expect(host.tickPeriod).toBe(0);
  });

  test("is woken by a request that needs to know", () => {
    const host = new FakeHost();
    host.time = 2000 * SECOND;
    configureAvailability(host, ROOT, view(watching("woken")), 1);
    onTick(host, ROOT);
    for (let i = 0; i < 20; i++) {
      for (let token = host.calls.length - 10; token <= host.calls.length; token++) onCall(host, token);
      host.time += SECOND;
      onTick(host, ROOT);
    }
    expect(host.tickPeriod).toBe(500);
    host.status = "503";
    host.set("response.code_details", "no_healthy_upstream");
    host.set("xds.cluster_name", "woken");
    onResponse(host);
    expect(host.tickPeriod).toBe(20);
    expect(stateOf(known, "woken")).toBe(HostState.HAS_HOST);
    onTick(host, ROOT);
    expect(host.calls.includes("woken", host.calls.length - 2)).toBe(true);
    expect(host.tickPeriod).toBe(50);
  });
});

describe("the configuration", () => {
  test("names what is watched from the start, and how often", () => {
    const host = new FakeHost();
    const settings = [
      entry("composite_clusters", listValue([composite("conf", ["conf-a", "conf-b"])])),
      entry("availability_interval_ms", numberValue(25)),
    ];
    const message = entry("attempt_router", join(settings));
    configureAvailability(host, ROOT, view(message), 1);
    expect(host.tickPeriod).toBe(25);
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
