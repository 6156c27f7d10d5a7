import { readFileSync } from "node:fs";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Explanation } from "../../cli/explain/explanation.js";
import { run } from "../cli/support.js";

const FILE = new URL("../../envoy-config/cross-provider-fallback/native.yaml", import.meta.url).pathname;
const ask = (...args: string[]) => run(["explain", FILE, "--path", "/v1/messages", ...args]);
const json = async (...args: string[]): Promise<Explanation> =>
  JSON.parse((await ask("--format", "json", ...args)).stdout) as Explanation;

describe("explain", () => {
  test("as a table", async () => {
    const { code, stdout, stderr } = await ask("--status", "429,reset,200");
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout.replaceAll(FILE, "native.yaml")).toMatchSnapshot();
  });

  test("as JSON: attempts with candidates, and the way that a random value takes", async () => {
    const { attempts, result } = await json("--status", "503,200", "--random", "85");
    expect(attempts[0]).toMatchObject({
      attempt: 1,
      group: "provider_a",
      candidates: [
        { cluster: "provider_a_model_1", probability: 0.8 },
        { cluster: "provider_a_model_2", probability: 0.2 },
      ],
      cluster: "provider_a_model_2",
      answer: 503,
      next: "retry",
    });
    expect(result).toEqual({ status: 200, cluster: "provider_b", because: "the answer is good" });
  });

  test("a cluster that is down ends the request, as in Envoy", async () => {
    const { result } = await json("--status", "503", "--down", "provider_b");
    expect(result.because).toContain("cluster provider_b has no healthy host");
  });

  test("metadata of a file; one that is none is an error of the input", async () => {
    const folder = mkdtempSync(join(tmpdir(), "explain-"));
    const [good, bad] = ["good.json", "bad.json"].map((name) => join(folder, name)) as [string, string];
    writeFileSync(good, '{"ns": {"priority_groups": []}}');
    writeFileSync(bad, '{"ns": 1}');
    expect((await ask("--metadata", good)).code).toBe(0);
    const { code, stdout, stderr } = await ask("--metadata", bad);
    expect([code, stdout]).toEqual([1, ""]);
    expect(stderr).toContain('found something else under "ns"');
  });

  test("a listener that is not there is wrong usage", async () => {
    const { code, stderr } = await ask("--listener", "none");
    expect(code).toBe(2);
    expect(stderr).toContain("expected one of the listeners ingress, found none");
  });

  test("1,000 clusters and 500 routes are read and followed", async () => {
    const clusters = Array.from({ length: 1000 }, (_, n) => `  - {name: c${n}, type: STATIC, connect_timeout: 1s}`);
    const routes = Array.from(
      { length: 500 },
      (_, n) => `              - {match: {path: /${n}}, route: {cluster: c${n}}}`,
    );
    const text = readFileSync(FILE, "utf8")
      .replace("              routes:\n", `              routes:\n${routes.join("\n")}\n`)
      .replace("\n  clusters:\n", `\n  clusters:\n${clusters.join("\n")}\n`);
    const { code, stdout } = await run(["explain", "-", "--path", "/499", "--format", "json"], text);
    expect([code, (JSON.parse(stdout) as Explanation).attempts[0]?.candidates]).toEqual([
      0,
      [{ cluster: "c499", probability: 1 }],
    ]);
  });
});
