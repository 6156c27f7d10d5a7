import { expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { InputError, lower } from "../../cli/lower.js";
import { staticCluster } from "../support/clusters.js";
import { compositeOf, routeTo } from "../support/composite-bootstrap.js";

type Json = Record<string, unknown>;

const MEMBERS = [staticCluster("a", [1]), staticCluster("b", [2])];
const CHECKED = { ...staticCluster("a", [1]), outlier_detection: {} };
const TIERS = compositeOf("tiers", ["a", "b"]);

function clusters(all: Json[]): string {
  const typed = all.map((one) => ({ "@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster", ...one }));
  return stringify({ resources: typed });
}

function routes(settings: Json): string {
  return stringify({
    name: "r",
    virtual_hosts: [{ name: "v", domains: ["*"], routes: [routeTo("tiers", "/", settings)] }],
  });
}

/** The findings of lowering a file with these composite clusters elsewhere, none where it can be lowered. */
function problems(text: string, elsewhere: Json[]): string[] {
  try {
    lower(text, { file: "in.yaml", composites: { file: "composites.yaml", text: clusters(elsewhere) } });
    return [];
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    return error.findings.map(({ file, message }) => `${file}: ${message}`);
  }
}

test("routes may be lowered apart where the file shows that aggregates do, or the route asks for them", () => {
  expect(problems(routes({}), [...MEMBERS, TIERS])).toEqual([]);
  expect(problems(routes({ availability: "AGGREGATE" }), [TIERS])).toEqual([]);
  const [unknown] = problems(routes({}), [TIERS]);
  expect(unknown).toMatch(/^in.yaml: expected availability: AGGREGATE .* a is not in this file$/);
  const [probed] = problems(routes({ availability: "PROBE" }), [...MEMBERS, TIERS]);
  expect(probed).toMatch(/availability: PROBE asks for it$/);
  const [unskipped] = problems(routes({ skip_clusters_without_hosts: false }), [...MEMBERS, TIERS]);
  expect(unskipped).toMatch(/^in.yaml: expected a route that skips clusters without hosts/);
});

test("routes that are lowered apart get no clusters", () => {
  const text = stringify({
    static_resources: { clusters: [staticCluster("own", [3])], listeners: [] },
    dynamic_resources: { cds_config: {} },
  });
  expect(lower(text, { composites: { file: "c.yaml", text: clusters([...MEMBERS, TIERS]) } }).text).toBe(text);
});

test("clusters that are lowered apart get every aggregate, once", () => {
  const own = clusters([CHECKED, MEMBERS[1] ?? {}, TIERS]);
  for (const composites of [undefined, { file: "c.yaml", text: own }, { file: "c.yaml", text: clusters([TIERS]) }]) {
    const { resources } = parse(lower(own, composites === undefined ? {} : { composites }).text) as {
      resources: Json[];
    };
    const names = resources.map(({ name }) => String(name)).sort();
    expect(names).toEqual(["a", "attempt_router_no_host", "b", "tiers@ar-1", "tiers@ar-2", "tiers@ar-3"]);
    expect(JSON.stringify(resources[0])).toContain('"overprovisioning_factor":4000000');
  }
  const apart = parse(lower(clusters(MEMBERS), { composites: { file: "c.yaml", text: clusters([TIERS]) } }).text) as {
    resources: Json[];
  };
  expect(apart.resources).toHaveLength(6);
});

test("clusters that an aggregate cannot use are refused where they are lowered apart", () => {
  const original = { name: "a", type: "ORIGINAL_DST", lb_policy: "CLUSTER_PROVIDED", connect_timeout: "1s" };
  expect(problems(clusters([original, MEMBERS[1] ?? {}]), [TIERS])).toEqual([
    expect.stringMatching(
      /^composites.yaml: expected a composite cluster that aggregates can stand for.*a finds its host/,
    ),
  ]);
});
