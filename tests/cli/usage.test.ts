import { fileURLToPath } from "node:url";
import { execa } from "execa";
import { describe, expect, test } from "vitest";
import { run } from "./support.js";

test.each([
  ["--help"],
  ["lower", "--help"],
  ["check", "--help"],
  ["explain", "--help"],
  ["test", "--help"],
  ["playground", "--help"],
  ["serve", "--help"],
  ["completion", "--help"],
])("the usage text of %j %j", async (...args) => {
  const { code, stdout, stderr } = await run(args);
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout).toMatchSnapshot();
});

test("the usage text of every command has an example, and the exit codes", async () => {
  const { stdout } = await run(["--help"]);
  const commands = [...stdout.matchAll(/^ {2}([a-z]+)(?:\|[a-z]+)? [[<]/gm)].map((match) => match[1] ?? "");
  expect(commands.length).toBeGreaterThan(6);
  for (const command of commands.filter((name) => name !== "help")) {
    const help = (await run([command, "--help"])).stdout;
    expect(help).toMatch(new RegExp(`\\n  \\$ (source <\\()?attempt-router ${command}( |\\n)`));
    expect(help).toMatch(/\nExit codes: 0 /);
  }
});

describe("wrong usage exits with 2, writes the reason and no output", () => {
  const hex = "ab".repeat(32);
  test.each([
    [],
    ["nothing"],
    ["lower"],
    ["lower", "a.yaml", "b.yaml"],
    ["lower", "-", "--unknown"],
    ["lower", "-", "--failure-policy", "FAIL_SOMETIMES"],
    ["lower", "-", "--sha256", hex],
    ["lower", "-", "--sha256", "abc", "--wasm-remote", "https://modules.test/a.wasm"],
    ["lower", "-", "--wasm-remote", "https://modules.test/a.wasm"],
    ["lower", "-", "--wasm-remote", "modules.test", "--sha256", hex],
    ["lower", "-", "--wasm-remote", "https://modules.test/a.wasm", "--sha256", hex, "--wasm", "a.wasm"],
    ["lower", "-", "--wasm-cluster", "modules"],
    ["lower", "-", "--format", "json"],
    ["lower", "-", "--report", "--format", "xml"],
    ["check"],
    ["check", "-", "--format", "xml"],
    ["explain", "-"],
    ["test"],
    ["test", "a.test.yaml", "--format", "xml"],
    ["completion"],
    ["completion", "tcsh"],
    ["playground", "--port", "65536"],
    ["playground", "a.yaml", "b.yaml"],
    ["explain", "-", "--path", "/", "--status", "99"],
    ["explain", "-", "--path", "/", "--header", "x"],
    ["explain", "-", "--path", "/", "--random", "-1"],
  ])("%j %j %j %j %j %j", async (...args) => {
    const { code, stdout, stderr } = await run(args.filter((arg) => typeof arg === "string"));
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toMatchSnapshot();
  });
});

test.each([
  ["rds: {route_config_name: r, config_source: {ads: {}}}", [], true],
  ["rds: {route_config_name: r, config_source: {ads: {}}}", ["--rds"], false],
  ["scoped_routes: {name: s, scoped_rds: {scoped_rds_config_source: {ads: {}}}}", [], true],
  ["route_config: {virtual_hosts: []}", [], false],
])("names --rds where the routes of a connection manager are not in the file: %s %j", async (source, args, named) => {
  const type = "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager";
  const router = `{name: r, typed_config: {"@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router}}`;
  const filters = `[{name: hcm, typed_config: {"@type": ${type}, ${source}, http_filters: [${router}]}}]`;
  const listener = `"@type": type.googleapis.com/envoy.config.listener.v3.Listener\nname: l\nfilter_chains: [{filters: ${filters}}]\n`;
  const { code, stderr } = await run(["lower", "-", "--no-check", ...args], listener);
  expect(code).toBe(0);
  expect(stderr.includes("<stdin>:3:") && stderr.includes("by RDS; put the module in front of them with --rds")).toBe(
    named,
  );
});

test("as a process: output on standard output, findings on standard error without colours, exit codes", async () => {
  const main = fileURLToPath(new URL("../../cli/main.ts", import.meta.url));
  const process = (args: string[], input: string) =>
    execa("npx", ["tsx", main, ...args], { input, reject: false, stripFinalNewline: false });
  const good = await process(["lower", "-"], "admin: {}\n");
  const note =
    "<stdin>:1:1: note: nothing to lower: no route with priority groups, a composite cluster or route specifiers; written as it is\n";
  expect([good.exitCode, good.stdout, good.stderr]).toEqual([0, "admin: {}\n", note]);
  const bad = await process(["lower", "-"], "admin: {}\nadmin: {}\n");
  const message = "<stdin>:2:1: (document): expected each key of a map once, found this key again\n";
  expect([bad.exitCode, bad.stdout, bad.stderr]).toEqual([1, "", message]);
  expect((await process(["lower"], "")).exitCode).toBe(2);
});
