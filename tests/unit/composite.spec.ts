import { Bytes, decode, encode } from "../../assembly/bytes";
import { Candidates } from "../../assembly/decide/candidates";
import { Composite, HostState } from "../../assembly/decide/composite";
import { CompositeCluster } from "../../assembly/proto/attempt_router/v1/CompositeCluster";
import { ClusterEntry } from "../../assembly/proto/attempt_router/v1/CompositeCluster/ClusterEntry";
import { onDownstreamRequest } from "../../assembly/roles/downstream";
import { onResponse } from "../../assembly/roles/response";
import { onUpstreamRequest } from "../../assembly/roles/upstream";
import { candidates as known } from "../../assembly/availability/availability";
import { FakeHost } from "../../assembly/host/fake";
import { compileComposites } from "../../assembly/settings/composites";
import { bytes, composite, groupOf, hostOnRoute } from "./support/settings";
import { boolValue, entry, join, listValue, numberValue, stringValue, structValue } from "./support/wire";

function message(name: string, clusters: string[]): CompositeCluster {
  const result = new CompositeCluster();
  result.name = name;
  for (let i = 0; i < clusters.length; i++) result.clusters.push(new ClusterEntry(clusters[i]));
  return result;
}

function compile(messages: CompositeCluster[], skip: bool, candidates: Candidates): StaticArray<Composite> {
  return compileComposites(messages, skip, candidates);
}

/** The clusters of attempts 1 to `attempts`, "-" where there is none. */
function walk(composite: Composite, attempts: i32): string {
  let text = "";
  for (let attempt = 1; attempt <= attempts; attempt++) {
    const candidate = composite.clusterOf(attempt);
    text += candidate != null ? decode(candidate.name) : "-";
  }
  return text;
}

function lose(candidates: Candidates, name: string): void {
  candidates.named(encode(name)).state = HostState.NO_HOST;
}

describe("a composite cluster", () => {
  test("gives attempt n its n-th cluster, and none past the end", () => {
    const list = compile([message("k", ["a", "b", "c"])], true, new Candidates());
    expect(walk(list[0], 5)).toBe("abc--");
    expect(list[0].clusterOf(0) == null).toBe(true);
    expect(list[0].clusterOf(u32.MAX_VALUE) == null).toBe(true);
  });

  test("skips forward over clusters without a host, which shifts nothing", () => {
    const candidates = new Candidates();
    const list = compile([message("k", ["a", "b", "c"])], true, candidates);
    lose(candidates, "a");
    expect(walk(list[0], 3)).toBe("bbc");
    lose(candidates, "b");
    expect(walk(list[0], 3)).toBe("ccc");
    lose(candidates, "c");
    expect(walk(list[0], 3)).toBe("---");
  });

  test("uses its n-th cluster or none where skipping is off", () => {
    const candidates = new Candidates();
    const list = compile([message("k", ["a", "attempt_router_no_host", "c"])], false, candidates);
    expect(walk(list[0], 4)).toBe("a-c-");
    expect(candidates.watched.length).toBe(0);
  });

  test("may list a cluster twice", () => {
    const candidates = new Candidates();
    const list = compile([message("k", ["a", "a", "b"])], true, candidates);
    expect(walk(list[0], 3)).toBe("aab");
    lose(candidates, "a");
    expect(walk(list[0], 3)).toBe("bbb");
  });

  test("asks a nested one for the same attempt", () => {
    const candidates = new Candidates();
    const messages = [message("o", ["a", "i", "d"]), message("i", ["x", "y", "z"]), message("l", ["i", "d"])];
    const list = compile(messages, true, candidates);
    expect(walk(list[0], 4)).toBe("ayd-");
    expect(walk(list[2], 3)).toBe("xd-");
    lose(candidates, "y");
    expect(walk(list[0], 4)).toBe("azd-");
    lose(candidates, "z");
    expect(walk(list[0], 4)).toBe("add-");
  });

  test("watches the clusters that it may skip, once each", () => {
    const candidates = new Candidates();
    compile([message("k", ["a", "b", "c"]), message("m", ["b", "a", "d"]), message("s", ["e"])], true, candidates);
    const names: string[] = [];
    for (let i = 0; i < candidates.watched.length; i++) names.push(decode(candidates.watched[i].name));
    expect(names.join()).toBe("a,b");
  });
});

function settings(more: Uint8Array[] = []): Uint8Array {
  const fields = [
    entry("cluster", stringValue("k")),
    entry("composite_clusters", listValue([composite("k", ["a", "b", "c"])])),
    entry("slots", numberValue(4)),
  ];
  return join([join(fields), join(more)]);
}

function setState(name: string, state: HostState): void {
  known.named(encode(name)).state = state;
}

describe("a route with a composite cluster", () => {
  test("leaves the slots alone while nothing is known, and says so once", () => {
    const host = hostOnRoute("r@ar-00000000000000000000000000000c01", settings());
    onDownstreamRequest(host);
    expect(host.state("attempt_router.1")).toBe("");
    expect(host.cleared).toBe(0);
    expect(host.logs.length).toBe(1);
    onDownstreamRequest(host);
    expect(host.logs.length).toBe(1);
    expect(host.lent).toBe(0);
  });

  test("leaves what is not known to the aggregates, where it has some, and writes what is known", () => {
    const aggregated = structValue([
      entry("name", stringValue("g")),
      entry(
        "clusters",
        listValue([structValue([entry("name", stringValue("p"))]), structValue([entry("name", stringValue("q"))])]),
      ),
      entry("aggregates", boolValue(true)),
    ]);
    const fields = [
      entry("cluster", stringValue("g")),
      entry("composite_clusters", listValue([aggregated])),
      entry("slots", numberValue(3)),
    ];
    const host = hostOnRoute("r@ar-00000000000000000000000000000c09", join(fields));
    onDownstreamRequest(host);
    expect(host.state("attempt_router.1")).toBe("");
    expect(host.cleared).toBe(0);
    setState("p", HostState.HAS_HOST);
    onDownstreamRequest(host);
    expect(host.state("attempt_router.1")).toBe("p");
    expect(host.state("attempt_router.2")).toBe("");
    expect(host.state("attempt_router.3")).toBe("");
    expect(host.cleared).toBe(1);
  });

  test("plans around clusters without a host, and decides again at every attempt", () => {
    const host = hostOnRoute("r@ar-00000000000000000000000000000c02", settings());
    onDownstreamRequest(host);
    setState("a", HostState.NO_HOST);
    setState("b", HostState.HAS_HOST);
    onDownstreamRequest(host);
    expect(host.state("attempt_router.1")).toBe("b");
    expect(host.state("attempt_router.2")).toBe("");
    expect(host.cleared).toBe(1);
    setState("b", HostState.NO_HOST);
    host.properties.set("upstream.request_attempt_count", one());
    onUpstreamRequest(host);
    expect(host.state("attempt_router.2")).toBe("c");
    // What was decided with more knowledge stands.
    setState("b", HostState.UNKNOWN);
    onUpstreamRequest(host);
    expect(host.state("attempt_router.2")).toBe("c");
    setState("a", HostState.UNKNOWN);
    expect(host.state("attempt_router.random")).toBe("");
    expect(host.lent).toBe(0);
  });

  test("decides again when an attempt was answered with an error, be it the client's or the server's", () => {
    const host = hostOnRoute("r@ar-00000000000000000000000000000c06", settings());
    host.set("plugin_root_id", "upstream");
    host.properties.set("upstream.request_attempt_count", one());
    setState("a", HostState.HAS_HOST);
    setState("b", HostState.HAS_HOST);
    setState("c", HostState.HAS_HOST);
    onUpstreamRequest(host);
    expect(host.state("attempt_router.2")).toBe("b");
    setState("b", HostState.NO_HOST);
    host.status = "399";
    onResponse(host);
    expect(host.state("attempt_router.2")).toBe("b");
    host.status = "400";
    onResponse(host);
    expect(host.state("attempt_router.2")).toBe("c");
    setState("b", HostState.HAS_HOST);
    host.status = "599";
    onResponse(host);
    expect(host.state("attempt_router.2")).toBe("b");
    expect(host.lent).toBe(0);
    setState("a", HostState.UNKNOWN);
  });

  test("keeps the group of attempt 1 where the route does not refresh", () => {
    const specifier = structValue([
      entry("priority_groups", listValue([groupOf("g1", ["k"], [1]), groupOf("g2", ["z"], [1])])),
    ]);
    const fields = [
      entry("priority_group", specifier),
      entry("composite_clusters", listValue([composite("k", ["x", "y"])])),
      entry("slots", numberValue(3)),
      entry("refresh_cluster_on_retry", boolValue(false)),
    ];
    const host = hostOnRoute("r@ar-00000000000000000000000000000c03", join(fields));
    setState("x", HostState.NO_HOST);
    onDownstreamRequest(host);
    expect(host.state("attempt_router.1")).toBe("y");
    expect(host.state("attempt_router.2")).toBe("");
    expect(host.state("attempt_router.3")).toBe("");
    setState("x", HostState.UNKNOWN);
  });

  test("is refused where the settings are no composites", () => {
    const cyclic = listValue([composite("k", ["a", "l"]), composite("l", ["k"])]);
    const host = hostOnRoute(
      "r@ar-00000000000000000000000000000c04",
      join([entry("cluster", stringValue("k")), entry("composite_clusters", cyclic)]),
    );
    onDownstreamRequest(host);
    expect(host.logs[0].includes("composite_clusters[0].clusters: expected clusters that do not lead back")).toBe(true);
    const other = hostOnRoute("r@ar-00000000000000000000000000000c05", entry("cluster", stringValue("k")));
    onDownstreamRequest(other);
    expect(other.logs[0].includes('cluster: expected one of the composite_clusters, found "k"')).toBe(true);
  });
});

function one(): Bytes {
  const number = new Uint8Array(8);
  number[0] = 1;
  return bytes(number);
}
