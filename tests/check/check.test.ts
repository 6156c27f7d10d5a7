import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { CHECKS } from "../../cli/check/checks/index.js";
import { checkProgram } from "../../cli/check/run.js";
import { readProgram } from "../../cli/read/program.js";
import { run } from "../cli/support.js";
import { bootstrapOf, findingsOf, pages } from "./examples.js";

const exists = (path: string): boolean => !path.startsWith("/no/");

describe.each(CHECKS)("$code", (check) => {
  const page = pages().find(({ code }) => code === check.code);

  test("has a page with its words", () => {
    expect(page?.text).toContain(`# ${check.code}\n`);
    expect(page?.text).toContain(`${check.title}.\n`);
    expect(page?.text).toContain(`${check.why}.\n`);
  });

  test("finds the failing example of its page", () => {
    const findings = findingsOf(page?.failing ?? "", { exists }).filter(({ code }) => code === check.code);
    expect(findings.length).toBeGreaterThan(0);
    for (const { severity, line, path, message, fix } of findings) {
      expect([severity, path !== "", message !== "", fix !== ""]).toEqual([check.severity, true, true, true]);
      expect(line).toBeGreaterThan(1);
    }
  });

  test("finds nothing in the mended one", () => {
    expect(findingsOf(page?.mended ?? "", { exists }).filter(({ code }) => code === check.code)).toEqual([]);
  });
});

test("every page has its check", () => {
  expect(pages().map(({ code }) => code)).toEqual(CHECKS.map(({ code }) => code).sort());
});

test("the list of docs/check.md is that of the code", () => {
  const text = readFileSync(new URL("../../docs/check.md", import.meta.url), "utf8");
  const rows = CHECKS.map(
    ({ code, severity, title }) => `| [\`${code}\`](checks/${code}.md) | ${severity} | ${title} |`,
  );
  const listed = text.split("\n").filter((line) => line.startsWith("| [`"));
  expect(listed.map((row) => row.replace(/ +/g, " "))).toEqual(rows);
});

test("a good config has no finding", () => {
  expect(findingsOf("")).toEqual([]);
});

test("a provider's host is the server name and the authority of its cluster", () => {
  const tls = (name: string): object => ({
    name,
    typed_config: {
      "@type": "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext",
      common_tls_context: { validation_context: { trusted_ca: { filename: "ca.pem" } } },
    },
  });
  const clusterOf = (settings: object): object => ({
    transport_socket: tls("envoy.transport_sockets.tls"),
    metadata: { filter_metadata: { attempt_router: { provider: settings } } },
  });
  const codes = (settings: object): string[] =>
    findingsOf(stringify({ clusters: { a: clusterOf(settings), b: clusterOf(settings) } })).map(({ code }) => code);
  expect(codes({ host: "vendor.example" })).toEqual([]);
  const nameless = ["certificate-not-checked", "no-sni"];
  expect(codes({ path_prefix: "/v1" })).toEqual([...nameless, ...nameless]);
});

const scenarios = new URL("../../envoy-config/", import.meta.url);
const folders = readdirSync(scenarios, { withFileTypes: true }).filter((entry) => entry.isDirectory());

test.each(folders.map(({ name }) => name))("nothing is found in envoy-config/%s", async (name) => {
  const file = new URL(`${name}/native.yaml`, scenarios).pathname;
  const { code, stdout, stderr } = await run(["check", file]);
  expect([code, stdout, stderr]).toEqual([0, "", ""]);
});

describe("a comment suppresses", () => {
  const text = bootstrapOf({ clusters: { a: { circuit_breakers: null }, b: { circuit_breakers: null } } });
  const find = (changed: string): string[] => checkProgram(readProgram("f", changed), changed).map(({ code }) => code);
  const line = "    - name: a\n";

  test.each([
    ["nothing", line, ["default-retry-breaker"]],
    ["the line", "    - name: a # attempt-router: ignore default-retry-breaker\n", []],
    ["the line after it", `    # attempt-router: ignore other, default-retry-breaker\n    # and why\n${line}`, []],
    ["another code", `    # attempt-router: ignore other\n${line}`, ["default-retry-breaker"]],
  ])("%s", (_, changed, expected) => {
    expect(text).toContain(line);
    expect(find(text.replace(line, changed))).toEqual(expected);
  });
});

describe("the command", () => {
  const bad = bootstrapOf({ route: { retry_policy: null } });

  test("exits with 1 where an error was found, with 0 for warnings", async () => {
    const warned = bootstrapOf({ route: { timeout: null } });
    const [first, second] = [await run(["check", "-"], bad), await run(["check", "-"], warned)];
    expect([first.code, second.code]).toEqual([1, 0]);
    expect(second.stdout).toContain("[default-route-timeout]");
  });

  test("as text", async () => {
    expect((await run(["check", "-"], bad)).stdout).toMatchSnapshot();
  });

  test("as JSON", async () => {
    const findings = JSON.parse((await run(["check", "--format", "json", "-"], bad)).stdout) as object[];
    expect(Object.keys(findings[0] ?? {})).toEqual([
      "code",
      "severity",
      "file",
      "line",
      "column",
      "path",
      "message",
      "why",
      "fix",
    ]);
    expect(findings).toMatchObject([{ code: "no-retry-policy", severity: "error", file: "<stdin>" }]);
  });

  test("as SARIF", async () => {
    const { runs } = JSON.parse((await run(["check", "--format", "sarif", "-"], bad)).stdout) as {
      runs: { results: object[]; tool: { driver: { rules: { id: string }[] } } }[];
    };
    expect(runs[0]?.results).toMatchObject([{ ruleId: "no-retry-policy", level: "error" }]);
    expect(runs[0]?.tool.driver.rules.map(({ id }) => id)).toEqual(CHECKS.map(({ code }) => code));
  });

  test("as GitHub's annotations", async () => {
    const { stdout } = await run(["check", "--format", "github", "-"], bad);
    expect(stdout).toMatch(/^::error file=<stdin>,line=\d+,col=\d+,title=no-retry-policy::[^\n]+\n$/);
  });

  test("an input that is no config is an error of the input", async () => {
    expect((await run(["check", "-"], "x: [")).code).toBe(1);
  });
});

test("lower notes what was found, and goes on", async () => {
  const { code, stdout, stderr } = await run(["lower", "-"], bootstrapOf({ route: { timeout: null } }));
  const quiet = await run(["lower", "-", "--no-check"], bootstrapOf({ route: { timeout: null } }));
  expect(quiet).toEqual({ code: 0, stdout, stderr: "" });
  expect([code, stdout !== ""]).toEqual([0, true]);
  expect(stderr).toContain(
    "note: a route with several groups has no timeout: 15 s for all attempts [default-route-timeout]",
  );
});

test("--envoy that is none is an error of the input", async () => {
  const { code, stderr } = await run(["check", "-", "--envoy", "/no/envoy"], bootstrapOf({}));
  expect(code).toBe(1);
  expect(stderr).toContain("expected an Envoy that can be run, found ENOENT");
});
