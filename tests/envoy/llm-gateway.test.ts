// The scenario that combines the settings, on real Envoys, with vendors behind TLS.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { envoyVersions } from "../../tools/envoy/binary.js";
import { LlmGateway, VENDOR_KEYS } from "../../tools/llm/gateway.js";
import { CALL_HEADER, contentOf, PLAY_HEADER, type Visit } from "../../tools/llm/vendors.js";
import { waitFor } from "../../tools/wait.js";

const { versions } = await envoyVersions();

/** What a vendor may see of its own, and no other of it. */
const PRIVATE: Record<string, string[]> = {
  a: [VENDOR_KEYS["a"] ?? "", "a.example", "/deployments/"],
  b: [VENDOR_KEYS["b"] ?? "", "b.example", "2026-01-01"],
  c: [VENDOR_KEYS["c"] ?? "", "c.example", "/models/"],
};
const A = /^vendor_a_(large|small)$/;
const SMALL = "vendor_a_small";

const SHORT_TRY = ["per_try_timeout: 10s", "per_try_timeout: 1s"] as const;

const NONE_COOLS = ["{statuses: [429], base: 10s}", "{statuses: [599]}"] as const;

interface Told {
  status: number;
  body: string;
  visits: Visit[];
}

describe.each(versions)("the LLM gateway on Envoy %s", (version) => {
  let gateway: LlmGateway;
  let calls = 0;

  beforeAll(async () => {
    gateway = await LlmGateway.start(version, { replace: [SHORT_TRY, NONE_COOLS] });
  });
  afterAll(() => gateway.stop());

  async function ask(play: string, headers: Record<string, string> = {}): Promise<Told> {
    const call = String(calls++);
    const all = { [PLAY_HEADER]: play, [CALL_HEADER]: call, authorization: "key-of-client", ...headers };
    const response = await fetch(gateway.url, { method: "POST", body: "{}", headers: all });
    const told = { status: response.status, body: await response.text(), visits: gateway.vendors.visitsOf(call) };
    told.visits.forEach(seesItsOwn);
    return told;
  }

  test.each([
    ["200", [A]],
    ["500,200", [A, SMALL]],
    ["reset,503,200", [A, SMALL, "vendor_b"]],
    ["429,200", [A, "vendor_b"]],
    ["401,200", [A, "vendor_b"]],
    ["error,200", [A, "vendor_b"]],
    ["empty,200", [A, SMALL]],
    ["silent,hang,200", [A, SMALL, "vendor_b"]],
    ["503,empty,error,200", [A, SMALL, "vendor_b", "vendor_c"]],
    ["429,429,200", [A, "vendor_b", "vendor_c"]],
  ])("%s: the first vendor with content serves the client, byte for byte", async (play, clusters) => {
    const { status, body, visits } = await ask(play);
    expectClusters(visits, clusters);
    expect([status, body]).toEqual([200, contentOf(visits[visits.length - 1]?.cluster ?? "")]);
  });

  test("an answer that says not to retry is the client's, as it is", async () => {
    const { status, body, visits } = await ask("stop,200");
    expect([status, visits.length]).toEqual([500, 1]);
    expect(body).toContain("slow down");
  });

  test("when all fail, the last vendor's own answer is the client's", async () => {
    const { status, body, visits } = await ask("503,503,503,error");
    expectClusters(visits, [A, SMALL, "vendor_b", "vendor_c"]);
    // The status that the vendor sent, and its bytes.
    expect(status).toBe(200);
    expect(body).toContain('data: {"error"');
  });

  test("a tenant's chain leaves one vendor out, for every attempt", async () => {
    const { status, visits } = await ask("429,reset,503,200", { "x-tenant": "hospital" });
    expectClusters(visits, ["vendor_c", "vendor_b", "vendor_b", "vendor_b"]);
    expect(status).toBe(200);
    // vendor_b does not get the tenant's name, and vendor_c does.
    expect(visits.map(({ headers }) => headers["x-tenant"])).toEqual(["hospital", undefined, undefined, undefined]);
  });

  test("the lines of a request and of its attempts have one id, and tell what the vendors saw", async () => {
    const id = "5f3d0f70-0000-4000-8000-000000000001";
    const { visits } = await ask("reset,503,429,200", { "x-request-id": id });
    const lines = await waitFor("the line of the request", () => {
      const own = gateway.logged.filter(({ request_id }) => request_id === id);
      return own.some(({ attempts }) => attempts !== undefined) && own;
    });
    const attempts = lines.filter(({ attempt }) => attempt !== undefined);
    const seen = visits.map(({ attempt, cluster }) => [String(attempt), cluster]);
    expect(attempts.map(({ attempt, cluster }) => [attempt, cluster])).toEqual(seen);
    expect(attempts.map(({ status }) => status)).toEqual([0, 503, 429, 200]);
    expect(attempts.map(({ flags }) => flags)).toEqual(["UC", "-", "-", "-"]);
    const outcomes = ["reset", "503", "429", "200"];
    const record = visits.map(({ cluster }, index) => `${cluster}:${outcomes[index]}`).join(",");
    expect(lines.at(-1)).toMatchObject({ attempts: record, group: "vendor_c", status: 200 });
  });
});

describe.each(versions)("the LLM gateway on Envoy %s, while vendor_a cools down", (version) => {
  test("is not asked: its models are passed over, and the host's vendor gets what is its own", async () => {
    const gateway = await LlmGateway.start(version, { replace: [SHORT_TRY] });
    let calls = 0;
    const ask = async (play: string): Promise<Visit[]> => {
      const call = String(calls++);
      const headers = { [PLAY_HEADER]: play, [CALL_HEADER]: call, authorization: "key-of-client" };
      expect(await (await fetch(gateway.url, { method: "POST", body: "{}", headers })).text()).toContain("data:");
      const visits = gateway.vendors.visitsOf(call);
      visits.forEach(seesItsOwn);
      return visits;
    };
    try {
      const models = ["vendor_a_large", "vendor_a_small"];
      await waitFor("both models to cool down", async () => {
        await ask("429,200");
        const cooling = await Promise.all(models.map((model) => gateway.envoy.admin.stat(ejections(model))));
        return cooling.every((count) => count === 1);
      });
      await waitFor("the workers to know", async () => (await ask("200"))[0]?.cluster === "vendor_b");
      expectClusters(await ask("reset,200"), ["vendor_b", "vendor_b"]);
      // The error in its stream counts as 429, so vendor_b cools down, too.
      expect((await ask("error,200"))[0]?.cluster).toBe("vendor_b");
      await waitFor("the workers to know", async () => (await ask("200"))[0]?.cluster === "vendor_c");
    } finally {
      await gateway.stop();
    }
  });
});

const ejections = (cluster: string) => `cluster.${cluster}.outlier_detection.ejections_active`;

function expectClusters(visits: readonly Visit[], clusters: readonly (string | RegExp)[]): void {
  expect(visits.map(({ attempt }) => attempt)).toEqual(clusters.map((_, index) => index + 1));
  for (const [index, cluster] of clusters.entries()) expect(visits[index]?.cluster).toMatch(cluster);
}

function seesItsOwn(visit: Visit): void {
  const vendor = visit.cluster.charAt("vendor_".length);
  const { authorization, "x-api-key": xApiKey, "api-key": apiKey, host } = visit.headers;
  const keys = {
    a: [`Bearer ${VENDOR_KEYS["a"]}`, undefined, undefined],
    b: [undefined, VENDOR_KEYS["b"], undefined],
    c: [undefined, undefined, VENDOR_KEYS["c"]],
  };
  expect([authorization, xApiKey, apiKey]).toEqual(keys[vendor as "a"]);
  expect(host).toBe(`${vendor}.example`);
  const text = JSON.stringify([visit.serverName, visit.path, visit.headers]);
  for (const [other, secrets] of Object.entries(PRIVATE)) {
    for (const secret of other === vendor ? [] : secrets) expect(text).not.toContain(secret);
  }
}
