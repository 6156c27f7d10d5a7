import { existsSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { lower } from "../../cli/lower.js";
import { fixtures, lowerFixture, run, WASM_IN_GOLDEN, type Fixture } from "./support.js";

describe.each(fixtures("lower"))("$name", (fixture) => {
  test("gives the expected output", async () => {
    const { code, stdout, stderr } = await lowerFixture(fixture);
    const notes = fixture.beside(".stderr");
    expect(stderr.replaceAll(fixture.input, "IN")).toBe(existsSync(notes) ? readFileSync(notes, "utf8") : "");
    expect(code).toBe(0);
    await expect(stdout).toMatchFileSnapshot(fixture.beside(`.out.${fixture.name.endsWith("json") ? "json" : "yaml"}`));
  });

  test("is unchanged when lowered again", async () => {
    const { stdout } = await lowerFixture(fixture);
    const again = await run(["lower", "-", "--wasm", WASM_IN_GOLDEN, ...idempotentOptions(fixture)], stdout);
    expect(again.stdout).toBe(stdout);
  });
});

test("what is not lowered keeps its line ends", () => {
  const fixture = fixtures("lower").find(({ name }) => name === "two-groups.yaml");
  const text = (fixture?.text ?? "").replaceAll("\n", "\r\n");
  const output = lower(text, { file: "in.yaml", wasm: WASM_IN_GOLDEN }).text;
  expect(output.replaceAll("\r\n", "")).not.toContain("\n");
  expect(output).toContain("attempt_router");
});

test("an anchor that goes away with its specifier takes no alias with it", () => {
  const fixture = fixtures("lower").find(({ name }) => name === "two-groups.yaml");
  const text = (fixture?.text ?? "")
    .replace("cluster_name: a, weight: 1", "cluster_name: &cluster a, weight: 1")
    .replace("name: a, connect_timeout", "name: *cluster, connect_timeout");
  expect(text).toContain("*cluster");
  expect(lower(text, { file: "in.yaml" }).text).toContain("{name: a, connect_timeout");
});

/** Where the module comes from is not part of what must stay the same: it was written already. */
function idempotentOptions(fixture: Fixture): string[] {
  return fixture.options.filter((option) => option === "--rds" || option === "--no-attempt-header");
}
