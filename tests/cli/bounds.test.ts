// What would be too much to write out, or too deep, is refused before anything is done with it.
import { describe, expect, test, vi } from "vitest";
import { parse, parseDocument } from "yaml";
import { lower } from "../../cli/lower.js";
import { Source } from "../../cli/yaml/source.js";
import { fixtures, run, WASM_IN_GOLDEN } from "./support.js";

const TOO_DEEP = "expected at most 500 levels of maps and lists, found more";
const BLOCK = (depth: number): string => [...Array(depth).keys()].map((level) => `${" ".repeat(level)}a:\n`).join("");

describe("more levels than Envoy's YAML parser reads", () => {
  test.each([
    ["of flow lists", "[".repeat(2000) + "]".repeat(2000), "1:501"],
    ["of flow maps", `a: ${"{a: ".repeat(2000)}${"}".repeat(2000)}`, "1:2000"],
    ["of JSON that never ends", "[".repeat(1_000_000), "1:501"],
    ["of block maps", BLOCK(2000), "501:501"],
    ["of block lists", "- ".repeat(2000), "1:1001"],
  ])("%s", async (_, text, place) => {
    const { code, stdout, stderr } = await run(["lower", "-"], text);
    const [line = "", ...others] = stderr.split("\n");
    expect([code, stdout, others]).toEqual([1, "", [""]]);
    expect(line).toMatch(new RegExp(`^<stdin>:\\d+:\\d+: \\(document\\): ${TOO_DEEP}$`));
    const column = Number(/:(\d+): /.exec(line)?.[1]);
    expect(Math.abs(column - Number(place.split(":")[1]))).toBeLessThanOrEqual(8);
  });

  test("but not as many as it reads", async () => {
    expect((await run(["lower", "-"], `node:\n  metadata: {a: ${"[".repeat(490)}${"]".repeat(490)}}\n`)).code).toBe(0);
  });
});

describe("chained merge keys", () => {
  const native = fixtures("lower").find(({ name }) => name === "two-groups.yaml")?.text ?? "";
  const chained = (count: number): string =>
    native + `node:\n  id: a\n  cluster: b\n  metadata:\n    m0: &m0 {k0: 0}\n${links(count)}`;

  test("are all written out at once", () => {
    const parsed = vi.spyOn(Source, "parse");
    const output = lower(chained(160), { wasm: WASM_IN_GOLDEN }).text;
    expect(parsed.mock.calls.length).toBeLessThanOrEqual(3);
    parsed.mockRestore();
    expect(output).not.toContain("<<");
    expect(parseDocument(output).getIn(["node", "metadata", "m159", "k0"])).toBe(0);
  });

  test("are refused also where one list of maps makes them too much", async () => {
    const merge = `node:\n  metadata:\n    big: &big {k: ${"v".repeat(30_000)}}\n    all:\n      <<: [${Array(200).fill("*big").join(", ")}]\n`;
    const { code, stderr } = await run(["lower", "-"], merge);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^<stdin>:5:\d+: \(document\): expected merge keys that add at most 4 MB, found more\n$/);
  });

  test("are refused at the line that makes them too much", async () => {
    const { code, stderr } = await run(["lower", "-"], chained(1000));
    expect(code).toBe(1);
    expect(stderr).toMatch(/^<stdin>:\d+:\d+: \(document\): expected merge keys that add at most 4 MB, found more\n$/);
  });

  function links(count: number): string {
    const link = (index: number): string =>
      `    m${index}: &m${index}\n      <<: *m${index - 1}\n      k${index}: ${index}\n`;
    return [...Array(count).keys()].slice(1).map(link).join("");
  }
});

test("aliases of aliases are all written out at once", () => {
  const native = fixtures("lower").find(({ name }) => name === "two-groups.yaml")?.text ?? "";
  const routes = /routes:\n( +)- /.exec(native)?.[1]?.length ?? 0;
  expect(routes).toBeGreaterThan(0);
  const parsed = vi.spyOn(Source, "parse");
  const nested = [1, 2, 3, 4, 5].map((level) => `!ignore r${level}: &r${level} [*r${level - 1}]\n`).join("");
  lower(`!ignore r0: &r0 {a: 1}\n${nested}${native}`, { wasm: WASM_IN_GOLDEN });
  expect(parsed.mock.calls.length).toBeLessThanOrEqual(3);
  parsed.mockRestore();
});

test("a key that is too long for YAML is said to be one, and one of JSON is not", () => {
  const name = "n".repeat(1100);
  const native = fixtures("lower").find(({ name }) => name === "default-chain.yaml")?.text ?? "";
  const groups = native
    .replace(
      "{cluster_name: a, weight: 1}",
      `{cluster_name: a, weight: 1}\n${" ".repeat(26)}- {cluster_name: ${name}, weight: 2}`,
    )
    .replace(
      "- {name: a, connect_timeout: 1s}",
      `- {name: a, connect_timeout: 1s}\n  - {name: ${name}, connect_timeout: 1s}`,
    );
  const output = lower(groups, { wasm: WASM_IN_GOLDEN }).text;
  expect(output).toContain(`? ${name}`);
  const json = JSON.stringify(parse(groups));
  const lowered = lower(json, { file: "in.json", wasm: WASM_IN_GOLDEN }).text;
  expect(JSON.parse(lowered)).toEqual(parse(output));
});
