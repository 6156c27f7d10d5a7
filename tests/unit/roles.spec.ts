import { Counter } from "../../assembly/host/counters";
import { onDownstreamRequest } from "../../assembly/roles/downstream";
import { onUpstreamRequest } from "../../assembly/roles/upstream";
import { FakeHost } from "../../assembly/host/fake";
import { chain, groupOf, hostOnRoute } from "./support/settings";
import { boolValue, entry, stringValue } from "./support/wire";

function twoGroups(more: Uint8Array[] = []): Uint8Array {
  return chain([groupOf("first", ["a", "b"], [80, 20]), groupOf("second", ["c", "d"], [50, 50])], more);
}

function pick(host: FakeHost, value: string): void {
  host.headers.push(["x-pick", value]);
}

describe("a route without settings", () => {
  test("is left alone after its name was read", () => {
    const host = new FakeHost();
    host.set("xds.route_name", "plain");
    onDownstreamRequest(host);
    expect(host.reads.size).toBe(1);
    expect(host.cleared).toBe(0);
    expect(host.lent).toBe(0);
  });

  test("so is a request without a route", () => {
    const host = new FakeHost();
    onDownstreamRequest(host);
    expect(host.cleared).toBe(0);
    expect(host.logs.length).toBe(0);
  });
});

describe("slots", () => {
  test("hold the picks that are not the default of their group", () => {
    const host = hostOnRoute("r@ar-000000000000000000000000000000a1", twoGroups());
    pick(host, "99");
    onDownstreamRequest(host);
    expect(host.state("attempt_router.1")).toBe("b");
    expect(host.state("attempt_router.2")).toBe("d");
    expect(host.cleared).toBe(1);
    expect(host.lent).toBe(0);
  });

  test("stay empty for defaults, and then the route is not resolved anew", () => {
    const host = hostOnRoute("r@ar-000000000000000000000000000000a2", twoGroups());
    pick(host, "0");
    onDownstreamRequest(host);
    expect(host.state("attempt_router.1")).toBe("");
    expect(host.state("attempt_router.2")).toBe("");
    expect(host.cleared).toBe(0);
  });

  test("a later attempt's slot needs no new resolution", () => {
    const host = hostOnRoute("r@ar-000000000000000000000000000000a3", twoGroups());
    pick(host, "79");
    onDownstreamRequest(host);
    expect(host.state("attempt_router.1")).toBe("");
    expect(host.state("attempt_router.2")).toBe("d");
    expect(host.cleared).toBe(0);
  });

  test("a pinned route is kept when it is resolved anew", () => {
    const host = hostOnRoute("r@ar-000000000000000000000000000000a4", twoGroups([entry("pin", boolValue(true))]));
    pick(host, "99");
    onDownstreamRequest(host);
    expect(host.state("attempt_router.route")).toBe("r@ar-000000000000000000000000000000a4");
  });
});

describe("the client's attempt count", () => {
  test("is removed, and the route resolved without it", () => {
    const host = hostOnRoute("r@ar-000000000000000000000000000000b1", twoGroups());
    pick(host, "0");
    host.headers.push(["x-envoy-attempt-count", "2"]);
    onDownstreamRequest(host);
    expect(host.headers.length).toBe(1);
    expect(host.cleared).toBe(1);
    expect(host.count(Counter.CLIENT_ATTEMPT_COUNT_REMOVED)).toBe(1);
  });
});

describe("settings", () => {
  test("are read once per name", () => {
    const host = hostOnRoute("r@ar-000000000000000000000000000000c1", twoGroups());
    for (let i = 0; i < 3; i++) onDownstreamRequest(host);
    expect(host.reads.get("xds.route_metadata")).toBe(1);
  });

  test("that are wrong are counted and logged once, with their place", () => {
    const wrong = chain([groupOf("first", ["a"], [0])]);
    const host = hostOnRoute("r@ar-000000000000000000000000000000c2", wrong);
    for (let i = 0; i < 3; i++) onDownstreamRequest(host);
    expect(host.count(Counter.SETTINGS_ERROR)).toBe(1);
    expect(host.logs.length).toBe(1);
    expect(host.logs[0]).toBe(
      'settings of route "r@ar-000000000000000000000000000000c2": priority_group.priority_groups[0].clusters[0].weight: ' +
        "expected a whole number from 1 to 4294967295, found 0",
    );
    expect(host.cleared).toBe(0);
  });
});

describe("the random value", () => {
  test("a header that is no number is counted each time and logged once", () => {
    const host = hostOnRoute("r@ar-000000000000000000000000000000d1", twoGroups());
    pick(host, "no number");
    for (let i = 0; i < 3; i++) onDownstreamRequest(host);
    expect(host.count(Counter.RANDOM_HEADER_INVALID)).toBe(3);
    expect(host.logs.length).toBe(1);
  });

  test("a header that comes twice is no number", () => {
    const host = hostOnRoute("r@ar-000000000000000000000000000000d2", twoGroups());
    pick(host, "1");
    pick(host, "1");
    onDownstreamRequest(host);
    expect(host.count(Counter.RANDOM_HEADER_INVALID)).toBe(1);
  });

  test("an absent header is no mistake", () => {
    const host = hostOnRoute("r@ar-000000000000000000000000000000d3", twoGroups());
    onDownstreamRequest(host);
    expect(host.count(Counter.RANDOM_HEADER_INVALID)).toBe(0);
  });
});

describe("one slot", () => {
  test("is written for attempt 1 downstream and for the next attempt upstream", () => {
    const settings = twoGroups([entry("slot_form", stringValue("ONE_SLOT"))]);
    const host = hostOnRoute("r@ar-000000000000000000000000000000e1", settings);
    pick(host, "80");
    onDownstreamRequest(host);
    expect(host.state("attempt_router.cluster")).toBe("b");
    expect(host.cleared).toBe(1);
    host.set("upstream.request_attempt_count", "\x01\0\0\0\0\0\0\0");
    onUpstreamRequest(host);
    expect(host.state("attempt_router.cluster")).toBe("d");
    expect(host.lent).toBe(0);
  });

  test("takes the pin away once the router runs", () => {
    const settings = twoGroups([entry("slot_form", stringValue("ONE_SLOT")), entry("pin", boolValue(true))]);
    const host = hostOnRoute("r@ar-000000000000000000000000000000e3", settings);
    pick(host, "80");
    onDownstreamRequest(host);
    expect(host.state("attempt_router.route")).toBe("r@ar-000000000000000000000000000000e3");
    host.set("upstream.request_attempt_count", "\x01\0\0\0\0\0\0\0");
    onUpstreamRequest(host);
    expect(host.state("attempt_router.route")).toBe("");
  });

  test("leaves the client's attempt count alone, which nothing reads", () => {
    const settings = twoGroups([entry("slot_form", stringValue("ONE_SLOT"))]);
    const host = hostOnRoute("r@ar-000000000000000000000000000000e2", settings);
    pick(host, "0");
    host.headers.push(["x-envoy-attempt-count", "2"]);
    onDownstreamRequest(host);
    expect(host.headers.length).toBe(2);
  });
});

function byHeader(): Uint8Array {
  return twoGroups([entry("slot_form", stringValue("HEADERS")), entry("pin", boolValue(true))]);
}

describe("slots that are request headers", () => {
  test("hold the clusters of all attempts, whatever a client sent, and the first one is the router's", () => {
    const host = hostOnRoute("r@ar-000000000000000000000000000000f1", byHeader());
    pick(host, "99");
    host.headers.push(["x-attempt-router-cluster-2", "forged"]);
    onDownstreamRequest(host);
    expect(header(host, "x-attempt-router-cluster-1")).toBe("b");
    expect(header(host, "x-attempt-router-cluster-2")).toBe("d");
    expect(header(host, "x-attempt-router-first")).toBe("0");
    expect(host.state("attempt_router.route")).toBe("r@ar-000000000000000000000000000000f1");
    expect(host.cleared).toBe(1);
    expect(host.lent).toBe(0);
  });

  test("stay unwritten for defaults, which the route itself walks", () => {
    const host = hostOnRoute("r@ar-000000000000000000000000000000f2", byHeader());
    pick(host, "0");
    onDownstreamRequest(host);
    expect(header(host, "x-attempt-router-cluster-1")).toBe("");
    expect(host.cleared).toBe(0);
  });
});

// Writes that fail downstream, and then upstream, where the proxy refuses every write.
function refused(name: string, form: string): i32[] {
  const settings = twoGroups([
    entry("slot_form", stringValue(form)),
    entry("pin", boolValue(true)),
    entry("read_metadata_per_attempt", boolValue(true)),
  ]);
  const host = hostOnRoute(name, settings);
  pick(host, "99");
  host.refusesWrites = true;
  onDownstreamRequest(host);
  const downstream = host.count(Counter.SLOT_WRITE_FAILED);
  host.set("upstream.request_attempt_count", "\x01\0\0\0\0\0\0\0");
  onUpstreamRequest(host);
  expect(host.lent).toBe(0, "everything that was read was handed back");
  return [downstream, host.count(Counter.SLOT_WRITE_FAILED) - downstream];
}

describe("a write that the proxy refuses is counted in both roles", () => {
  test("where each attempt has a slot", () => {
    // Two slots, the random value and the pin; then a slot.
    expect(refused("r@ar-00000000000000000000000000000a01", "SLOT_PER_ATTEMPT")).toStrictEqual([4, 1]);
  });

  test("where all attempts share one", () => {
    // The slot, the random value and the pin; then the slot and the pin.
    expect(refused("r@ar-00000000000000000000000000000a02", "ONE_SLOT")).toStrictEqual([3, 2]);
  });

  test("where the slots are headers", () => {
    // Two headers and the mark of the first, the random value and the pin; then a header.
    expect(refused("r@ar-00000000000000000000000000000a03", "HEADERS")).toStrictEqual([5, 1]);
  });
});

function header(host: FakeHost, name: string): string {
  for (let i = 0; i < host.headers.length; i++) {
    if (host.headers[i][0] == name) return host.headers[i][1];
  }
  return "";
}
