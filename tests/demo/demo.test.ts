import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { envoyVersions } from "../../tools/envoy/binary.js";
import { waitFor } from "../../tools/wait.js";

const MAIN = fileURLToPath(new URL("../../demo/main.ts", import.meta.url));
const { versions } = await envoyVersions();

/** The demo's directory for temporary files: Envoy's command line names it, and nothing else does. */
let temporary: string;

beforeEach(() => {
  temporary = mkdtempSync(join(tmpdir(), "attempt-router-demo-"));
});

afterEach(() => {
  rmSync(temporary, { recursive: true, force: true });
});

test.each(versions)("tells the story in a pipe, with Envoy %s", async (version) => {
  const demo = start(["--requests", "200", "--envoy", version]);
  expect(await demo.exit).toBe(0);
  expect(demo.stderr).toBe("");
  expect(demo.stdout).not.toMatch(/\x1b/);
  expect(attempts(demo.stdout)).toEqual([
    ["1 provider_a 200"],
    ["1 provider_a 429", "2 provider_b 200"],
    ["1 provider_a 429", "2 provider_b connection lost", "3 provider_c 200"],
    ["1 provider_a 429", "2 provider_b connection lost", "3 provider_c 503"],
    ["1 provider_a 200"],
  ]);
  const [well, failing] = splits(demo.stdout);
  expect(well).toMatchObject({ provider_b: 0, provider_c: 0 });
  expect(failing).toMatchObject({ provider_a_model_2: 0, provider_c: 0 });
  for (const split of [well, failing]) {
    // 80 % of 200, give or take more than six standard deviations.
    expect(Math.abs((split?.["provider_a_model_1"] ?? 0) - 160)).toBeLessThan(36);
    expect(Object.values(split ?? {}).reduce((sum, count) => sum + count)).toBe(200);
  }
  await nothingIsLeft();
});

test("tells the story of the gateway", async () => {
  const demo = start(["--story", "gateway"]);
  expect(await demo.exit).toBe(0);
  expect(demo.stderr).toBe("");
  const scenes = demo.stdout.split(/^\d\. /m).slice(1);
  const clusters = scenes.map((scene) => [...scene.matchAll(/^ {2}\d {7} (\w+)/gm)].map(([, cluster]) => cluster));
  const ofA = expect.stringMatching(/^vendor_a_(large|small)$/) as string;
  expect(clusters).toEqual([
    [ofA],
    [ofA, "vendor_b"],
    [ofA, "vendor_b"],
    [ofA, "vendor_a_small", "vendor_b"],
    [ofA, "vendor_a_small", "vendor_b", "vendor_c"],
    [ofA],
    ["vendor_c", "vendor_b"],
    ["vendor_b"],
  ]);
  expect(demo.stdout.match(/^ {2}\{"attempt/gm)).toHaveLength(5);
  expect(demo.stdout).toContain('envoy_llm_gateway_requests{group="vendor_b"');
  await nothingIsLeft();
});

test("stays up with --keep, obeys its own hints, and ends with Ctrl-C", async () => {
  const demo = start(["--requests", "1", "--keep"]);
  await waitFor("the hints", () => demo.stdout.includes("# provider_c\n"), 30_000);
  const config = /lowered config +(\S+)/.exec(demo.stdout)?.[1] ?? "";
  expect(readFileSync(config, "utf8")).toContain("wasm.attempt_router.1");
  const url = /curl -i -X POST (\S+)/.exec(demo.stdout)?.[1] ?? "";
  const controls = [...demo.stdout.matchAll(/curl -X POST '(\S+)'/g)].map((match) => match[1] ?? "");
  expect(controls).toHaveLength(4);
  for (const control of controls.slice(0, 3)) await fetch(control, { method: "POST" });
  const response = await fetch(url, { method: "POST" });
  expect([response.status, response.headers.get("x-served-by")]).toEqual([200, "provider_c"]);
  demo.child.kill("SIGINT");
  expect([await demo.exit, demo.stderr]).toEqual([130, ""]);
  await nothingIsLeft();
});

test("ends in order when the reader of its output goes away", async () => {
  const demo = start([]);
  await once(demo.child.stdout ?? demo.child, "data");
  demo.child.stdout?.destroy();
  expect([await demo.exit, demo.stderr]).toEqual([0, ""]);
  await nothingIsLeft();
});

test("reports an error in a line and leaves nothing behind", async () => {
  const nowhere = join(temporary, "empty");
  const demo = start([], { PATH: nowhere, ENVOY_BIN: "", XDG_CACHE_HOME: nowhere });
  expect([await demo.exit, demo.stdout]).toEqual([1, ""]);
  expect(demo.stderr).toMatch(/^demo: no Envoy .* found; tried:$/m);
  await nothingIsLeft();
});

test("rejects what it does not know", async () => {
  for (const args of [["--envoy", "1.2.3"], ["--requests", "0"], ["--nonsense"]]) {
    const demo = start(args);
    expect([await demo.exit, demo.stdout]).toEqual([1, ""]);
    expect(demo.stderr).toContain("error: ");
  }
});

interface Demo {
  child: ChildProcess;
  stdout: string;
  stderr: string;
  exit: Promise<number | null>;
}

function start(args: string[], variables: NodeJS.ProcessEnv = {}): Demo {
  const env = { ...process.env, TMPDIR: temporary, CI: "true", ...variables };
  const child = spawn(process.execPath, ["--import", "tsx", MAIN, ...args], { env, stdio: ["ignore", "pipe", "pipe"] });
  const exit = once(child, "close").then(([code]) => code as number | null);
  const demo: Demo = { child, stdout: "", stderr: "", exit };
  child.stdout.on("data", (chunk: Buffer) => (demo.stdout += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (demo.stderr += chunk.toString()));
  return demo;
}

/** The tables of attempts: attempt, group and status of each line. */
function attempts(output: string): string[][] {
  const tables = output.split(/^ {2}attempt .*\n/m).slice(1);
  return tables.map((text) => {
    const rows = (text.split("\n  The client")[0] ?? "").split("\n");
    return rows.map((row) => row.replace(/^ {2}(\d) +(\w+) +\w+ +(.+)$/, "$1 $2 $3"));
  });
}

/** Who answered how often, for each count. */
function splits(output: string): Record<string, number>[] {
  return output
    .split("Who gave the answer")
    .slice(1)
    .map((text) => {
      const lines = [...text.matchAll(/^ {2}(provider_\w+) .*% +(\d+)$/gm)];
      return Object.fromEntries(lines.map((match) => [match[1] ?? "", Number(match[2])]));
    });
}

async function nothingIsLeft(): Promise<void> {
  await waitFor("processes of the demo to end", () => commandLines().every((line) => !line.includes(temporary)));
  const left = existsSync(temporary) ? readdirSync(temporary) : [];
  expect(left.filter((name) => name.startsWith("attempt-router"))).toEqual([]);
}

function commandLines(): string[] {
  const processes = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return processes.map((id) => {
    try {
      return readFileSync(`/proc/${id}/cmdline`, "latin1");
    } catch {
      return "";
    }
  });
}
