import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
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
    `${scratch}/missing.yaml:1:1: (file): expected a readable file, found ENOENT: no such file or directory\n`,
  ]);
  const output = join(scratch, "no-folder", "out.yaml");
  const unwritable = await run(["lower", "-", "-o", output], "admin: {}\n");
  expect([unwritable.code, unwritable.stderr]).toEqual([
    1,
    `${output}:1:1: (file): expected a file that can be written, found ENOENT: no such file or directory\n`,
  ]);
});

test("a file that is no UTF-8 is refused rather than changed", async () => {
  const input = join(scratch, "latin-1.yaml");
  writeFileSync(input, Buffer.from("admin: {}\n# \u00fc\nnode: {id: caf\u00e9}\n", "latin1"));
  const { code, stderr } = await run(["lower", input]);
  expect([code, stderr]).toEqual([1, `${input}:2:1: (file): expected UTF-8, found other bytes\n`]);
});
