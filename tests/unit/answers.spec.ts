import { beat } from "../../assembly/availability/heartbeat";
import { FakeHost } from "../../assembly/host/fake";
import { onDownstreamRequest } from "../../assembly/roles/downstream";
import { onLastAnswer } from "../../assembly/roles/last-answer";
import { Role } from "../../assembly/roles/role";
import { onUpstreamRequest, onUpstreamResponse } from "../../assembly/roles/upstream";
import { Counter } from "../../assembly/host/counters";
import { chain, groupOf, hostOnRoute } from "./support/settings";
import { boolValue, entry, listValue, numberValue, stringValue, structValue } from "./support/wire";

const ROUTE = "r@ar-00000000000000000000000000000b";
const MS: u64 = 1_000_000;

function threeGroups(more: Uint8Array[]): Uint8Array {
  return chain([groupOf("a", ["a"], [1]), groupOf("b", ["b"], [1]), groupOf("c", ["c"], [1])], more);
}

function recording(more: Uint8Array[] = []): Uint8Array {
  return threeGroups([entry("record_attempts", boolValue(true))].concat(more));
}

function step(status: i32, next: string): Uint8Array {
  const on = structValue([entry("statuses", listValue([numberValue(status)]))]);
  return structValue([entry("on", on), entry("next", stringValue(next))]);
}

function begin(host: FakeHost, attempt: i32, cluster: string): void {
  host.set("upstream.request_attempt_count", String.fromCharCode(attempt) + "\0\0\0\0\0\0\0");
  host.set("xds.cluster_name", cluster);
  expect(onUpstreamRequest(host)).toBe(true);
}

function answer(host: FakeHost, status: string): void {
  host.status = status;
  onUpstreamResponse(host);
}

describe("the group", () => {
  test("of an attempt is told while it is under way, also where a step led elsewhere", () => {
    const host = hostOnRoute(ROUTE + "20", recording([entry("steps", listValue([step(401, "c")]))]));
    onDownstreamRequest(host);
    begin(host, 1, "a");
    expect(host.state("attempt_router.group")).toBe("a");
    answer(host, "401");
    begin(host, 2, "c");
    expect(host.state("attempt_router.group")).toBe("c");
    expect(host.lent).toBe(0);
  });
});

describe("the heartbeat", () => {
  test("comes once a second, however often the proxy ticks", () => {
    const host = new FakeHost();
    const times: u64[] = [1000, 1050, 1999, 2000, 4001];
    for (let i = 0; i < times.length; i++) {
      host.time = times[i] * MS;
      beat(host);
    }
    expect(host.count(Counter.HEARTBEATS)).toBe(3);
  });
});

describe("the record", () => {
  test("tells the attempts, and what is left without an answer is a reset", () => {
    const host = hostOnRoute(ROUTE + "01", recording());
    expect(onDownstreamRequest(host)).toBe(Role.WATCHER);
    begin(host, 1, "a");
    answer(host, "429");
    begin(host, 2, "b");
    begin(host, 3, "c");
    expect(host.state("attempt_router.attempts")).toBe("a:429,b:reset,c:-");
    answer(host, "200");
    expect(host.state("attempt_router.attempts")).toBe("a:429,b:reset,c:200");
    expect(host.lent).toBe(0);
  });

  test("has no byte of a name that a log line may not have", () => {
    const host = hostOnRoute(ROUTE + "02", recording());
    begin(host, 1, "a,b\r\nc:d");
    answer(host, "200");
    expect(host.state("attempt_router.attempts")).toBe("a_b__c:d:200");
  });

  test("takes a time-out that comes a little early for one, and no reset of a clock that is set back", () => {
    const host = hostOnRoute(ROUTE + "03", recording([entry("per_try_timeout_ms", numberValue(600))]));
    host.time = 5000 * MS;
    begin(host, 1, "a");
    host.time = 5590 * MS;
    begin(host, 2, "b");
    host.time = 1000 * MS;
    begin(host, 3, "c");
    expect(host.state("attempt_router.attempts")).toBe("a:timeout,b:reset,c:-");
  });

  test("that cannot be written is counted", () => {
    const host = hostOnRoute(ROUTE + "04", recording());
    host.refusesWrites = true;
    begin(host, 1, "a");
    answer(host, "200");
    onLastAnswer(host);
    expect(host.count(Counter.SLOT_WRITE_FAILED)).toBe(3);
    expect(host.lent).toBe(0);
  });
});

describe("a step", () => {
  test("leads to its group, and the next attempts go on from there", () => {
    const host = hostOnRoute(ROUTE + "11", threeGroups([entry("steps", listValue([step(401, "c")]))]));
    begin(host, 1, "a");
    expect(host.state("attempt_router.2")).toBe("b");
    answer(host, "401");
    expect(host.state("attempt_router.2")).toBe("c");
    begin(host, 2, "c");
    answer(host, "503");
    expect(host.state("attempt_router.3")).toBe("c");
    expect(host.lent).toBe(0);
  });

  test("STOP marks the answer for the router, and the client does not see the mark", () => {
    const host = hostOnRoute(ROUTE + "12", threeGroups([entry("steps", listValue([step(401, "STOP")]))]));
    begin(host, 1, "a");
    answer(host, "401");
    expect(host.responseHeader("x-envoy-ratelimited")).toBe("attempt_router");
    onLastAnswer(host);
    expect(host.responseHeader("x-envoy-ratelimited")).toBe("");
    expect(host.lent).toBe(0);
  });

  test("STOP leaves a mark of the upstream's own to the client", () => {
    const host = hostOnRoute(ROUTE + "13", threeGroups([entry("steps", listValue([step(429, "STOP")]))]));
    host.responseHeaders.push(["x-envoy-ratelimited", "true"]);
    begin(host, 1, "a");
    answer(host, "429");
    onLastAnswer(host);
    expect(host.responseHeader("x-envoy-ratelimited")).toBe("true");
  });
});

function stopsAt(route: string, now: u64, hasStart: bool = true): bool {
  const settings = threeGroups([entry("min_attempt_time", stringValue("2s")), entry("timeout_ms", numberValue(10000))]);
  const host = hostOnRoute(ROUTE + route, settings);
  // 1,000 ms in nanoseconds.
  if (hasStart) host.properties.set("request.time", [0, 0xca, 0x9a, 0x3b, 0, 0, 0, 0]);
  begin(host, 1, "a");
  host.time = now * MS;
  answer(host, "503");
  return host.responseHeader("x-envoy-ratelimited") != "";
}

describe("min_attempt_time", () => {
  test("stops when less is left, and only then", () => {
    expect(stopsAt("21", 9000)).toBe(false);
    expect(stopsAt("22", 9001)).toBe(true);
  });

  test("stops nothing where the clock was set back, or the beginning is not known", () => {
    expect(stopsAt("23", 1)).toBe(false);
    expect(stopsAt("24", 90000, false)).toBe(false);
  });
});
