import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { afterAll, beforeAll, expect, test } from "vitest";
import { COMMAND } from "../cli/support.js";

const EXAMPLES = fileURLToPath(new URL("../../examples/", import.meta.url));
const SERVE = [process.execPath, ...COMMAND, "serve", "--stdio"];

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "attempt-router-stdio-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

// Without its build cache, Go compiles Envoy's API first.
test("the Go control plane lowers its snapshots, and learns what is wrong with one", { timeout: 600_000 }, async () => {
  const binary = join(folder, "control-plane");
  await execa("go", ["build", "-o", binary, "."], { cwd: `${EXAMPLES}go-control-plane` });
  expectLowered((await execa(binary, SERVE)).stdout);
});

test("the Python control plane does the same", { timeout: 60_000 }, async () => {
  expectLowered((await execa("python3", [`${EXAMPLES}python-control-plane/lower.py`, ...SERVE])).stdout);
});

function expectLowered(stdout: string): void {
  const [lowered, refused = "", ...others] = stdout.split("\n");
  expect(lowered).toBe("lowered: envoy.router.cluster_specifier_plugin.matcher");
  expect(refused).toMatch(/^refused: resources\[0\]\..*priority_groups: expected a list of at least one group, found /);
  expect(others).toEqual([]);
}
