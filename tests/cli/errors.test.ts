import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fixtures, run } from "./support.js";

let scratch: string;
beforeAll(() => {
  scratch = mkdtempSync(join(tmpdir(), "attempt-router-errors-"));
});
afterAll(() => rmSync(scratch, { recursive: true }));

describe.each(fixtures("errors"))("$name", (fixture) => {
  test("is refused with each finding, and nothing is written", async () => {
    const output = join(scratch, fixture.name);
    const { code, stdout, stderr } = await run(["lower", fixture.input, "-o", output]);
    expect({ code, stdout, written: existsSync(output) }).toEqual({ code: 1, stdout: "", written: false });
    await expect(stderr.replaceAll(fixture.input, "IN")).toMatchFileSnapshot(fixture.beside(".stderr"));
  });
});

test("an output file that exists is kept when the input is wrong", async () => {
  const output = join(scratch, "kept.yaml");
  writeFileSync(output, "kept");
  expect((await run(["lower", "-", "-o", output], "a: [")).code).toBe(1);
  expect(readFileSync(output, "utf8")).toBe("kept");
});

test("a file that cannot be read or written is a finding", async () => {
  const missing = await run(["lower", join(scratch, "missing.yaml")]);
  expect([missing.code, missing.stderr]).toEqual([
    1,
    `${scratch}/missing.yaml:1:1: (file): expected a readable file, found ENOENT\n`,
  ]);
  const output = join(scratch, "no-folder", "out.yaml");
  const unwritable = await run(["lower", "-", "-o", output], "admin: {}\n");
  expect([unwritable.code, unwritable.stderr]).toEqual([
    1,
    `${output}:1:1: (file): expected a file that can be written, found ENOENT\n`,
  ]);
});

test("an output file is written as a whole", async () => {
  const output = join(scratch, "whole.yaml");
  expect((await run(["lower", "-", "-o", output], "admin: {}\n")).code).toBe(0);
  expect(readFileSync(output, "utf8")).toBe("admin: {}\n");
  expect(readdirSync(scratch).filter((name) => name.endsWith(".tmp"))).toEqual([]);
});
