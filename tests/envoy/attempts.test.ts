// Recording attempts, and steps by the answer of an attempt, on real Envoys.

import { describe, expect, test } from "vitest";
import { envoyVersions } from "../../tools/envoy/binary.js";
import { observe, type Options } from "./attempt-runs.js";

const { versions } = await envoyVersions();
const RECORD = { record_attempts: true };

describe.each(versions)("Envoy %s: record_attempts", (version) => {
  test("names each attempt's cluster and status, in the log alone", async () => {
    const options = { upstreams: { a: 429, b: 503, c: 200 }, groups: [["a"], ["b"], ["c"]], settings: RECORD };
    const [served] = await observe(version, options);
    expect(served).toMatchObject({ status: 200, hops: ["a", "b", "c"], record: "a:429,b:503,c:200" });
    expect(Object.keys(served?.headers ?? {})).not.toContain("x-attempts");
  });

  test("of a virtual host counts for its routes, and a response header shows it", async () => {
    const upstreams = { a: 429, b: 200 };
    const hostSettings = { record_attempts: { response_header: "x-attempts" } };
    const [served] = await observe(version, { upstreams, groups: [["a"], ["b"]], hostSettings });
    expect(served?.headers["x-attempts"]).toBe("a:429,b:200");
    const [off] = await observe(version, {
      upstreams,
      groups: [["a"], ["b"]],
      hostSettings,
      settings: { record_attempts: false },
    });
    expect(off).toMatchObject({ record: "-", hops: ["a", "b"] });
  });

  test("follows the picks of weighted groups", async () => {
    const options = {
      upstreams: { a: 200, b: 503, c: 200, d: 200 },
      groups: [
        ["a", "b"],
        ["c", "d"],
      ],
      settings: RECORD,
    };
    const served = await observe(version, options, [{ "x-pick": "0" }, { "x-pick": "1" }]);
    expect(served.map(({ record }) => record)).toEqual(["a:200", "b:503,d:200"]);
  });

  test("tells a reset, a refused connection and a time-out apart", async () => {
    const options: Options = {
      upstreams: { a: "reset", b: "refuse", c: "hang", d: 200 },
      groups: [["a"], ["c"], ["d"]],
      settings: RECORD,
      retryPolicy: { per_try_timeout: "0.6s" },
    };
    expect((await observe(version, options))[0]?.record).toBe("a:reset,c:timeout,d:200");
    const last = async (cluster: string) => (await observe(version, { ...options, groups: [["d"], [cluster]] }))[0];
    const upstreams = { ...options.upstreams, d: 503 };
    options.upstreams = upstreams;
    options.retryPolicy = { per_try_timeout: "0.6s", num_retries: 1 };
    expect((await last("a"))?.record).toBe("d:503,a:reset");
    expect((await last("b"))?.record).toBe("d:503,b:refused");
    expect((await last("c"))?.record).toBe("d:503,c:timeout");
  });

  test("says which cluster had no host", async () => {
    const options: Options = { upstreams: { a: 503 }, groups: [["a"], ["none"]], noHosts: ["none"], settings: RECORD };
    expect((await observe(version, options))[0]).toMatchObject({ status: 503, record: "a:503,none:no_host" });
    expect((await observe(version, { ...options, groups: [["none"], ["a"]] }))[0]).toMatchObject({
      status: 503,
      record: "none:no_host",
    });
  });

  test("ends with dots where it would get too long", async () => {
    const long = "c".repeat(900);
    const names = [`${long}1`, `${long}2`, `${long}3`, "a"];
    const groups = names.map((name) => [name]);
    const upstreams = Object.fromEntries<number>(names.map((name) => [name, 503]));
    const [served] = await observe(version, { upstreams, groups, settings: RECORD });
    expect(served?.record).toBe(`${long}1:503,${long}2:503,...`);
  });

  test("works without the attempt header", async () => {
    const options = { upstreams: { a: 429, b: 200 }, groups: [["a"], ["b"]], settings: RECORD };
    const [served] = await observe(version, { ...options, lowering: { attemptHeader: false } });
    expect(served).toMatchObject({ hops: ["a", "b"], record: "a:429,b:200" });
  });
});

const AUDIT = {
  name: "audit",
  typed_config: { "@type": "type.googleapis.com/attempt_router.v1.Audit", response_header: "x-audit" },
};
const TIMEOUT_OVERRIDE = {
  name: "timeout",
  typed_config: { "@type": "type.googleapis.com/attempt_router.v1.RouteOverride", timeout: "9s" },
};

describe.each(versions)("Envoy %s: a route with specifiers", (version) => {
  test.each([[[AUDIT]], [[TIMEOUT_OVERRIDE, AUDIT]]])(
    "keeps its own settings about answers: %j",
    async (specifiers) => {
      const settings = {
        ...steps({ on: { statuses: [401] }, next: "b" }, { on: { statuses: [404] }, next: "STOP" }),
        record_attempts: { response_header: "x-attempts" },
      };
      const upstreams = { a: 401, a2: 200, b: 404, c: 200 };
      const [served] = await observe(version, { upstreams, groups: VENDORS, settings, specifiers });
      expect(served).toMatchObject({ status: 404, hops: ["a", "b"], record: "a:401,b:404" });
      expect(served?.headers).toMatchObject({ "x-attempts": "a:401,b:404" });
      expect(served?.headers["x-audit"]).toBeDefined();
      expect(served?.headers["x-envoy-ratelimited"]).toBeUndefined();
    },
  );
});

describe.each(versions)("Envoy %s: a virtual host with specifiers", (version) => {
  const options: Options = {
    upstreams: { a: 503, b: 200 },
    groups: [["a"], ["b"]],
    hostSpecifiers: [AUDIT],
    timeout: "5s",
  };

  test("gives its settings about answers to its routes", async () => {
    const hostSettings = { record_attempts: true, min_attempt_time: "1s" };
    const [early] = await observe(version, { ...options, hostSettings });
    expect(early).toMatchObject({ status: 200, hops: ["a", "b"], record: "a:503,b:200" });
    const [late] = await observe(version, { ...options, hostSettings: { ...hostSettings, min_attempt_time: "6s" } });
    expect(late).toMatchObject({ status: 503, hops: ["a"], record: "a:503" });
  });
});

const VENDORS = [["a"], ["a2"], ["b"], ["c"]];

function steps(...list: object[]): object {
  return { steps: list, record_attempts: true };
}

describe.each(versions)("Envoy %s: steps", (version) => {
  const upstreams = { a: 401, a2: 200, b: 200, c: 200 };

  test("an answer leads past groups, to the one that is named", async () => {
    const settings = steps({ on: { statuses: [401, 403] }, next: "b" });
    const [served] = await observe(version, { upstreams, groups: VENDORS, settings });
    expect(served).toMatchObject({ status: 200, hops: ["a", "b"], record: "a:401,b:200" });
  });

  test("and on from there", async () => {
    const settings = steps({ on: { statuses: [401] }, next: "b" });
    const [served] = await observe(version, { upstreams: { ...upstreams, b: 503 }, groups: VENDORS, settings });
    expect(served).toMatchObject({ status: 200, hops: ["a", "b", "c"] });
  });

  test("an attempt without an answer goes on from there, too", async () => {
    const settings = steps({ on: { statuses: [401] }, next: "b" });
    const [served] = await observe(version, { upstreams: { ...upstreams, b: "reset" }, groups: VENDORS, settings });
    expect(served).toMatchObject({ status: 200, hops: ["a", "b", "c"] });
  });

  test("STAY keeps the group, NEXT and no step go to the next one", async () => {
    const script = { a: [503, 404, 429], a2: 500, b: 200, c: 200 };
    const settings = steps(
      { on: { statuses: [503] }, next: "STAY" },
      { on: { status_classes: ["4xx"] }, next: "NEXT" },
    );
    const [served] = await observe(version, { upstreams: script, groups: VENDORS, settings });
    expect(served).toMatchObject({ status: 200, hops: ["a", "a", "a2", "b"], record: "a:503,a:404,a2:500,b:200" });
  });

  test("STOP gives the answer to the client as it is", async () => {
    const settings = steps({ on: { status_classes: ["4xx"] }, next: "STOP" });
    const [served] = await observe(version, { upstreams, groups: VENDORS, settings });
    expect(served).toMatchObject({ status: 401, hops: ["a"], record: "a:401" });
    expect(served?.headers["x-envoy-ratelimited"]).toBeUndefined();
  });

  test("the first step for an answer counts, and headers must match", async () => {
    const now = { status: 503, headers: { "retry-after": "0" } };
    const script = { a: [now, 503], a2: 503, b: 200, c: 200 };
    const header = { name: "retry-after", string_match: { exact: "0" } };
    const settings = steps(
      { on: { statuses: [503], response_headers: [header] }, next: "STAY" },
      { on: { statuses: [503] }, next: "c" },
      { on: { statuses: [503] }, next: "STOP" },
    );
    const [served] = await observe(version, { upstreams: script, groups: VENDORS, settings });
    expect(served).toMatchObject({ status: 200, hops: ["a", "a", "c"] });
  });

  test("a weighted group is picked from by the request's own value", async () => {
    const settings = steps({ on: { statuses: [401] }, next: "b" });
    const groups = [["a"], ["a2"], ["b", "c"]];
    const served = await observe(version, { upstreams, groups, settings }, [{ "x-pick": "0" }, { "x-pick": "1" }]);
    expect(served.map(({ hops }) => hops)).toEqual([
      ["a", "b"],
      ["a", "c"],
    ]);
  });

  test("without the attempt header likewise", async () => {
    const settings = steps({ on: { statuses: [401] }, next: "b" }, { on: { statuses: [503] }, next: "STAY" });
    const script = { ...upstreams, b: [503, 200] };
    const [served] = await observe(version, {
      upstreams: script,
      groups: VENDORS,
      settings,
      lowering: { attemptHeader: false },
    });
    expect(served).toMatchObject({ status: 200, hops: ["a", "b", "b"] });
  });
});

describe.each(versions)("Envoy %s: min_attempt_time", (version) => {
  const options: Options = { upstreams: { a: 503, b: 200 }, groups: [["a"], ["b"]] };
  const settings = (least: string) => ({ min_attempt_time: least, record_attempts: true });

  test("no attempt is begun that has less time left", async () => {
    const [late] = await observe(version, { ...options, timeout: "5s", settings: settings("6s") });
    expect(late).toMatchObject({ status: 503, hops: ["a"], record: "a:503" });
    expect(late?.headers["x-envoy-ratelimited"]).toBeUndefined();
  });

  test("one that has more is, and so are all where the route has no time limit", async () => {
    const [early] = await observe(version, { ...options, timeout: "20s", settings: settings("1s") });
    expect(early).toMatchObject({ status: 200, hops: ["a", "b"] });
    const [unlimited] = await observe(version, { ...options, timeout: "0s", settings: settings("100s") });
    expect(unlimited).toMatchObject({ status: 200, hops: ["a", "b"] });
  });

  test("a route that says nothing has Envoy's 15 s", async () => {
    const [late] = await observe(version, { ...options, settings: settings("16s") });
    expect(late).toMatchObject({ status: 503, hops: ["a"] });
  });
});
