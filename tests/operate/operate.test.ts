// The names in the dashboard and the alerts are those that a real Envoy exports, and what says that the module is gone does.

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { envoyVersions } from "../../tools/envoy/binary.js";
import { EnvoyStartError } from "../../tools/envoy/process.js";
import { LlmGateway } from "../../tools/llm/gateway.js";
import { PLAY_HEADER } from "../../tools/llm/vendors.js";
import { namesIn, scraped } from "./promql.js";

const { versions } = await envoyVersions();
const DEBUG_MODULE = fileURLToPath(new URL("../../build/debug.wasm", import.meta.url));
/** Labels that Prometheus itself adds to what it scrapes. */
const OF_THE_SCRAPE = ["job", "instance"];
/** Metrics that only come into being under circumstances of their own. */
const TRAP_HEADER = { "x-attempt-router-trap": "yes" };

const read = (file: string): string => readFileSync(new URL(`../../docs/operate/${file}`, import.meta.url), "utf8");
const alerts = (parse(read("alerts.yaml")) as { groups: { rules: { alert: string; expr: string }[] }[] }).groups
  .flatMap(({ rules }) => rules)
  .map(({ alert, expr }) => ({ name: alert, expr }));
const panels = (JSON.parse(read("dashboard.json")) as { panels: { title: string; targets: { expr: string }[] }[] })
  .panels;
const targets = panels.flatMap(({ title, targets: all }) => all.map(({ expr }) => ({ name: title, expr })));

describe("names are found", () => {
  test("in an expression with all that the files use", () => {
    const expression =
      'sum by (a, b) (rate(m_1{x="y{", z!~"m_0"}[5m] offset 10m)) / on (c) m_2 unless scalar(sum(m_3)) * 0 > 0.5';
    expect(namesIn(expression)).toEqual({ metrics: ["m_1", "m_2", "m_3"], labels: ["x", "z", "a", "b", "c"] });
  });

  test("in a scrape", () => {
    const found = scraped('# TYPE m counter\nm{a="1",b="x y"} 3\nm{} 4\nn 5\n');
    expect([...found].map(([name, labels]) => [name, [...labels]])).toEqual([
      ["m", ["a", "b"]],
      ["n", []],
    ]);
  });
});

describe.each(versions)("on Envoy %s", (version) => {
  let gateway: LlmGateway;
  let metrics: ReturnType<typeof scraped>;

  beforeAll(async () => {
    gateway = await LlmGateway.start(version, { wasm: DEBUG_MODULE });
    await ask({ [PLAY_HEADER]: "503,error,200" });
    await ask(TRAP_HEADER);
    await gateway.envoy.admin.waitForStat("llm_gateway.traps", (count) => count === 1);
    metrics = scraped(await gateway.envoy.admin.get("/stats/prometheus"));
  });
  afterAll(() => gateway.stop());

  const ask = async (headers: Record<string, string>): Promise<Response> => {
    const response = await fetch(gateway.url, { method: "POST", body: "{}", headers });
    await response.text();
    return response;
  };

  test.each([...alerts, ...targets])("$name names what is exported", ({ expr }) => {
    const { metrics: named, labels } = namesIn(expr);
    expect(named.length).toBeGreaterThan(0);
    expect(named.filter((name) => !metrics.has(name))).toEqual([]);
    const known = new Set([...OF_THE_SCRAPE, ...named.flatMap((name) => [...(metrics.get(name) ?? [])])]);
    expect(labels.filter((label) => !known.has(label))).toEqual([]);
  });

  test("the counters tell each request and each attempt once, and the request that trapped", async () => {
    const text = await gateway.envoy.admin.get("/stats/prometheus");
    const lines = text.split("\n").filter((line) => line.startsWith("envoy_llm_gateway_"));
    const attempts = lines.filter((line) => line.startsWith("envoy_llm_gateway_attempts{"));
    const outcomes = attempts.map((line) => /attempt="(\d)",outcome="(\d)",flags="-"\} 1$/.exec(line)?.slice(1));
    expect(outcomes.sort()).toEqual([
      ["1", "5"],
      ["2", "4"],
      ["3", "2"],
    ]);
    expect(lines.filter((line) => !attempts.includes(line))).toEqual([
      'envoy_llm_gateway_requests{group="",attempts="0",outcome="5"} 1',
      'envoy_llm_gateway_requests{group="vendor_b",attempts="3",outcome="2"} 1',
      "envoy_llm_gateway_traps{} 1",
    ]);
  });

  test("Envoy's own gauge of virtual machines does not tell of a trap", () => {
    expect(metrics.has("envoy_wasm_envoy_wasm_runtime_v8_active")).toBe(true);
  });

  test("a missing file keeps Envoy from starting", async () => {
    const start = LlmGateway.start(version, { wasm: "/no/attempt-router.wasm" });
    await expect(start).rejects.toThrow(EnvoyStartError);
  });
});
