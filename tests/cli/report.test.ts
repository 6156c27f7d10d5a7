import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { TYPE } from "../../cli/lower/types.js";
import type { LowerReport } from "../../cli/lower.js";
import { fixtures, run, WASM_IN_GOLDEN, type Fixture } from "./support.js";

const scratch = mkdtempSync(join(tmpdir(), "attempt-router-report-"));
afterAll(() => rmSync(scratch, { recursive: true }));

describe.each(fixtures("report"))("$name", (fixture) => {
  test("gives the expected text", async () => {
    const { code, stdout } = await run(["lower", fixture.input, ...fixture.options]);
    expect(code).toBe(0);
    await expect(stdout.replaceAll(fixture.input, "IN")).toMatchFileSnapshot(fixture.beside(".report.txt"));
  });

  test("gives the expected JSON", async () => {
    const { code, stdout } = await run(["lower", fixture.input, ...fixture.options, "--format", "json"]);
    expect(code).toBe(0);
    await expect(stdout.replaceAll(fixture.input, "IN")).toMatchFileSnapshot(fixture.beside(".report.json"));
  });
});

test("the config is written with -o only, and is that without a report", async () => {
  const [fixture] = fixtures("report");
  const output = join(scratch, "out.yaml");
  const input = ["lower", fixture?.input ?? "", "--no-check"];
  const { stdout } = await run([...input, "--report", "-o", output]);
  expect(stdout).toBe((await run([...input, "--report"])).stdout);
  expect(readFileSync(output, "utf8")).toBe((await run(input)).stdout);
});

test("a wrong input has no report", async () => {
  const { code, stdout } = await run(["lower", "-", "--report"], "[]\n");
  expect([code, stdout]).toEqual([1, ""]);
});

// The parser here does not know keys that Envoy ignores.
const PARSED = fixtures("lower").filter(({ text }) => !text.includes("!ignore"));

describe.each(PARSED)("of $name, the report and the output agree", (fixture) => {
  test("in the filters of each connection manager", async () => {
    const { report, text } = await both(fixture);
    const managers = managersOf(parse(text));
    expect(report.connection_managers.map(({ filters }) => filters)).toEqual(
      managers.map((manager) => ours(manager["http_filters"])),
    );
    const upstream = managers.map((manager) =>
      ours(messages(manager).find((one) => one["@type"] === TYPE.router)?.["upstream_http_filters"]),
    );
    const reported = report.connection_managers.map(({ upstream_filters }) => upstream_filters.toSorted());
    expect(reported).toEqual(upstream.map((names) => names.toSorted()));
  });

  test("in the forms", async () => {
    const { report, text } = await both(fixture);
    const forms = new Set<string>(report.routes.map(({ form }) => form));
    expect(text.includes("wasm.attempt_router.cluster")).toBe(forms.has("one slot"));
    expect(text.includes("x-attempt-router-first")).toBe(forms.has("headers"));
    // Route specifiers have routes of their own, which the report leaves out.
    if (/route_specifiers|routeSpecifiers|attempt_router\.v1/.test(fixture.text + text)) return;
    const names = messages(parse(text)).flatMap(({ name }) => (typeof name === "string" ? [name] : []));
    const slots = ["slots, a filter for each", "slots", "one slot", "headers"].some((form) => forms.has(form));
    expect(names.some((name) => /@ar-[0-9a-f]{32}$/.test(name))).toBe(slots);
  });
});

async function both(fixture: Fixture): Promise<{ report: LowerReport; text: string }> {
  const output = join(scratch, fixture.name);
  const module = fixture.options.includes("--wasm-remote") ? [] : ["--wasm", WASM_IN_GOLDEN];
  const args = ["lower", fixture.input, "--no-check", ...module, ...fixture.options];
  const { stdout } = await run([...args, "--report", "--format", "json", "-o", output]);
  return { report: JSON.parse(stdout) as LowerReport, text: readFileSync(output, "utf8") };
}

type Message = Record<string, unknown>;

/** All messages of a value, from the outside inwards, in the order of the file. */
function messages(value: unknown): Message[] {
  if (value === null || typeof value !== "object") return [];
  const inside = Object.values(value).flatMap(messages);
  return Array.isArray(value) ? inside : [value as Message, ...inside];
}

function managersOf(file: unknown): Message[] {
  const added = (one: Message): boolean => one["stat_prefix"] !== "attempt_router_probe";
  return messages(file).filter((one) => one["@type"] === TYPE.connectionManager && added(one));
}

/** The filters of a filter chain that `lower` wrote. */
function ours(filters: unknown): string[] {
  const names = ((filters ?? []) as Message[]).map((filter) => String(filter["name"]));
  return names.filter((name) => name.startsWith("attempt_router"));
}
