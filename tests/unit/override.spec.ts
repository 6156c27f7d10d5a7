import { Bytes, View, decode, encode } from "../../assembly/bytes";
import { Decision } from "../../assembly/decide/decision";
import { group } from "../../assembly/decide/group";
import { Plan } from "../../assembly/decide/plan";
import {
  boolValue,
  entry,
  field,
  join,
  listValue,
  numberValue,
  stringValue,
  structValue,
  text,
  varint,
  view,
} from "./support/wire";

const NAMESPACE = encode("ns");
const TYPE = "envoy.extensions.router.cluster_specifiers.priority_group.v3.PriorityGroupsOverride";

// Two configured groups: g1 = [a, b], g2 = [c].
function plan(): Plan {
  const g1 = group(encode("g1"), StaticArray.fromArray<Bytes>([encode("a"), encode("b")]), [1, 1] as StaticArray<u32>);
  const g2 = group(encode("g2"), StaticArray.fromArray<Bytes>([encode("c")]), [1] as StaticArray<u32>);
  return new Plan(encode("r"), [g1, g2]);
}

/** Clusters of the first attempts; "*" before one that is written, "!" before one whose override group is reported. */
function walk(metadata: Uint8Array, random: u64, attempts: u32 = 3): string {
  const decision = new Decision(plan());
  decision.start(plan());
  decision.random = random;
  decision.overriding.read(view(metadata), NAMESPACE);
  const clusters: string[] = [];
  const out = new View();
  for (let attempt: u32 = 1; attempt <= attempts; attempt++) {
    const isDefault = decision.clusterOf(attempt, out);
    const mark = (decision.problem.length > 0 ? "!" : "") + (isDefault ? "" : "*");
    clusters.push(mark + decode(out.copy()));
  }
  return clusters.join(" ");
}

/** The names of the groups of three attempts. */
function groupNames(metadata: Uint8Array): string {
  const decision = new Decision(plan());
  decision.start(plan());
  decision.overriding.read(view(metadata), NAMESPACE);
  const names: string[] = [];
  for (let attempt: u32 = 1; attempt <= 3; attempt++) names.push(decode(decision.groupName(attempt)));
  return names.join(" ");
}

describe("the group of an attempt is called", () => {
  test("as it is configured", () => {
    expect(groupNames(new Uint8Array(0))).toBe("g1 g2 g2");
  });

  test("as the override's where that is configured, and never as a request likes", () => {
    const own = withClusters(listValue([cluster("z", 1)]));
    expect(groupNames(untyped([named("g2"), own, named("g1")]))).toBe("g2 override g1");
  });

  test("as the configured one where the override's cannot be used", () => {
    expect(groupNames(untyped([named("none"), named("none"), named("none")]))).toBe("g1 g2 g2");
  });
});

function untyped(groups: Uint8Array[]): Uint8Array {
  return entry("ns", entry("priority_groups", listValue(groups)));
}

function named(name: string): Uint8Array {
  return structValue([entry("name", stringValue(name))]);
}

function withClusters(clusters: Uint8Array): Uint8Array {
  return structValue([entry("name", stringValue("x")), entry("clusters", clusters)]);
}

function cluster(name: string, weight: f64): Uint8Array {
  return structValue([entry("cluster_name", stringValue(name)), entry("weight", numberValue(weight))]);
}

function typed(message: Uint8Array, url: string = "type.googleapis.com/" + TYPE): Uint8Array {
  const any = join([field(1, text(url)), field(2, message)]);
  return field(2, join([field(1, text("ns")), field(2, any)]));
}

function typedCluster(name: string, weight: u64): Uint8Array {
  return field(2, join([field(1, text(name)), field(2, join([varint(8), varint(weight)]))]));
}

describe("override in untyped metadata", () => {
  test("none: the configured chain", () => {
    expect(walk(new Uint8Array(0), 1)).toBe("*b c c");
  });

  test("names select configured groups, the last one repeats", () => {
    expect(walk(untyped([named("g2"), named("g1")]), 1)).toBe("*c *b *b");
  });

  test("clusters replace a group, whatever its name", () => {
    const own = withClusters(listValue([cluster("d", 1), cluster("e", 2)]));
    expect(walk(untyped([own]), 0)).toBe("*d *d *d");
    expect(walk(untyped([own]), 2)).toBe("*e *e *e");
  });

  test("a name longer than any cluster's is replaced by one that no cluster has, and reported", () => {
    const longest = "n".repeat(1024);
    expect(walk(untyped([withClusters(listValue([cluster(longest, 1)]))]), 0, 1)).toBe("*" + longest);
    const unknown = "!*attempt_router_unknown_cluster *attempt_router_unknown_cluster";
    expect(walk(untyped([withClusters(listValue([cluster(longest + "n", 1)]))]), 0, 2)).toBe(unknown);
  });

  test("an invalid group leaves its attempts to the configured ones and is reported once", () => {
    expect(walk(untyped([named("g2"), named("zz")]), 0, 4)).toBe("*c !c c c");
    expect(walk(untyped([named(""), named("g1")]), 0)).toBe("!a *a *a");
  });

  test("an empty list of clusters is as none; a list without elements may still hold bytes", () => {
    const unknownField = join([varint((9 << 3) | 0), varint(1)]);
    expect(walk(untyped([structValue([entry("name", stringValue("g2")), entry("clusters", listValue([]))])]), 0)).toBe(
      "*c c c",
    );
    expect(
      walk(untyped([structValue([entry("name", stringValue("g2")), entry("clusters", field(6, unknownField))])]), 0),
    ).toBe("*c c c");
  });

  test("clusters that are there, but no list", () => {
    expect(
      walk(untyped([structValue([entry("name", stringValue("g2")), entry("clusters", new Uint8Array(0))])]), 0),
    ).toBe("!a c c");
    expect(walk(untyped([withClusters(boolValue(true))]), 0)).toBe("!a c c");
  });

  test("weights are cut to whole numbers from 1 to 2^32 - 1", () => {
    const weights: f64[] = [0, 0.999, -1, NaN, Infinity, 4294967295.5, 4294967296];
    for (let i = 0; i < weights.length; i++) {
      expect(walk(untyped([withClusters(listValue([cluster("d", weights[i])]))]), 0)).toBe("!a c c");
    }
    const cut = untyped([withClusters(listValue([cluster("d", 1.9), cluster("e", 4294967295)]))]);
    expect(walk(cut, 0)).toBe("*d *d *d");
    expect(walk(cut, 1)).toBe("*e *e *e");
    expect(walk(cut, 4294967295)).toBe("*e *e *e");
    expect(walk(cut, 4294967296)).toBe("*d *d *d");
  });
});

describe("override in typed metadata", () => {
  test("decides alone where it is there", () => {
    const other = untyped([named("g2")]);
    const message = field(1, join([field(1, text("x")), typedCluster("d", 4294967295)]));
    expect(walk(join([other, typed(message)]), 0)).toBe("*d *d *d");
    expect(walk(join([other, typed(new Uint8Array(0))]), 0)).toBe("a c c");
    expect(walk(join([other, typed(message, "type.googleapis.com/google.protobuf.StringValue")]), 0)).toBe("a c c");
    expect(walk(join([other, typed(message, TYPE)]), 0)).toBe("a c c");
    expect(walk(join([other, typed(message, "/" + TYPE)]), 0)).toBe("*d *d *d");
  });

  test("a message that does not parse anywhere is not used anywhere", () => {
    const good = field(1, field(1, text("g2")));
    const badText = new Uint8Array(1);
    badText[0] = 0xff;
    const truncated = join([varint((2 << 3) | 2), varint(5)]);
    expect(walk(typed(join([good, field(1, field(1, badText))])), 0)).toBe("a c c");
    expect(walk(typed(join([good, field(1, truncated)])), 0)).toBe("a c c");
    expect(walk(typed(join([good, field(1, field(2, truncated))])), 0)).toBe("a c c");
    expect(walk(typed(good), 0)).toBe("*c c c");
  });

  test("weight 0, or none, is invalid", () => {
    const zero = field(1, join([field(1, text("x")), typedCluster("d", 0)]));
    const none = field(1, join([field(1, text("x")), field(2, field(1, text("d")))]));
    expect(walk(typed(zero), 0)).toBe("!a c c");
    expect(walk(typed(none), 0)).toBe("!a c c");
  });
});
