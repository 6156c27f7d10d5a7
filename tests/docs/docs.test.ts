import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { stringify, parse } from "yaml";
import { describe, expect, test } from "vitest";
import { lower } from "../../cli/lower.js";
import packageJson from "../../package.json" with { type: "json" };

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const PAGES = [
  "README.md",
  "CONTRIBUTING.md",
  "CHANGELOG.md",
  "SECURITY.md",
  ...pagesOf("docs"),
  ...pagesOf("docs/control-planes"),
  ...pagesOf("envoy-config"),
];

describe.each(PAGES)("%s", (page) => {
  const text = read(page);

  test("links to files that exist", () => {
    const links = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map((match) => match[1] ?? "");
    const local = links.filter((link) => !/^https?:/.test(link)).map((link) => link.replace(/#.*/, ""));
    expect(local.filter((link) => !existsSync(join(ROOT, dirname(page), link)))).toEqual([]);
  });

  test("names tests and conformance cases that exist", () => {
    const named = [...text.matchAll(/`(tests\/[^`*]+|(?:pg|composite)-[a-z0-9-]+)`/g)].map((match) => match[1] ?? "");
    const files = named.map((name) => (name.startsWith("tests/") ? name : `tests/conformance/cases/${name}.yaml`));
    expect(files.filter((file) => !existsSync(ROOT + file))).toEqual([]);
  });

  test("names scripts that package.json has", () => {
    const scripts = [...text.matchAll(/npm run ([\w:-]+)/g)].map((match) => match[1] ?? "");
    expect(scripts.filter((script) => !Object.hasOwn(packageJson.scripts, script))).toEqual([]);
  });
});

test("the README's route can be lowered", () => {
  const route = /```yaml\n([^]*?)```/.exec(read("README.md"))?.[1] ?? "";
  const routes: unknown = parse(route);
  const config = stringify({ name: "routes", virtual_hosts: [{ name: "all", domains: ["*"], routes }] });
  expect(lower(config, { file: "README.md" }).text).toContain("wasm.attempt_router.1");
});

test("the README gives the module's size", () => {
  const kilobytes = Number(/module of about (\d+) KB/.exec(read("README.md"))?.[1]);
  expect(Math.abs(statSync(`${ROOT}build/attempt-router.wasm`).size / 1000 - kilobytes)).toBeLessThan(kilobytes / 10);
});

test("every scenario is in the list", () => {
  const folders = readdirSync(`${ROOT}envoy-config`, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const listed = [...read("envoy-config/README.md").matchAll(/^\| \[([\w-]+)\]/gm)].map((match) => match[1]);
  expect(listed.sort()).toEqual(folders.map((folder) => folder.name).sort());
});

test("the route specifiers' example can be lowered", () => {
  const config = /```yaml\n([^]*?)```/.exec(read("docs/route-specifiers.md"))?.[1] ?? "";
  expect(lower(config, { file: "route-specifiers.md" }).text).toContain("wasm.attempt_router.route");
});

test("every counter of the module is documented, and no other", () => {
  const source = read("assembly/filter/counters.ts");
  const counters = [...source.matchAll(/"attempt_router\.(\w+)"/g)].map((match) => match[1]);
  const documented = [...read("docs/counters.md").matchAll(/^\| `(\w+)`/gm)].map((match) => match[1]);
  expect(documented).toEqual(counters);
});

test("every setting of a route is documented, and no other", () => {
  const message = /message RouteSettings \{([^]*?)\n\}/.exec(read("proto/attempt_router/v1/settings.proto"))?.[1] ?? "";
  const fields = [...message.matchAll(/^ {2}[\w. ]+ (\w+) = \d+;/gm)].map((match) => match[1]);
  const documented = [...read("docs/settings.md").matchAll(/^\| `(\w+)`/gm)].map((match) => match[1]);
  expect(documented).toEqual(fields);
});

test("every dependency has its reason", () => {
  const dependencies = [...Object.keys(packageJson.dependencies), ...Object.keys(packageJson.devDependencies)];
  const table = read("docs/RATIONALE.md").split("## Why is each dependency there?")[1] ?? "";
  const rows = table.split("\n").filter((line) => line.startsWith("| `"));
  const named = rows.flatMap((row) => [...(row.split("|")[1] ?? "").matchAll(/`([^`]+)`/g)].map((match) => match[1]));
  expect(named.sort()).toEqual(dependencies.sort());
});

test("every conformance case that deviates is listed as a difference", () => {
  const folder = `${ROOT}tests/conformance/cases/`;
  const deviating = readdirSync(folder).filter((file) =>
    /^(deviation|lowering_error):/m.test(readFileSync(folder + file, "utf8")),
  );
  const page = read("docs/differences.md");
  const isListed = (file: string) => page.includes(file.replace(/\.yaml$/, ""));
  expect(deviating.filter((file) => !isListed(file))).toEqual([]);
});

test("every difference names what pins it", () => {
  const rows = read("docs/differences.md")
    .split("\n")
    .filter((line) => line.startsWith("| ") && !/^\| (---|what|\|)/.test(line));
  expect(rows.filter((row) => !/`(tests\/|pg-|composite-)[^`]*` \|$/.test(row))).toEqual([]);
});

function pagesOf(folder: string): string[] {
  const files = readdirSync(ROOT + folder).filter((file) => file.endsWith(".md"));
  return files.map((file) => `${folder}/${file}`);
}

function read(path: string): string {
  return readFileSync(ROOT + path, "utf8");
}
