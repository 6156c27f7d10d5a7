import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { FORMS } from "../../cli/choose/delivery.js";
import { lower } from "../../cli/lower.js";
import { caseFiles } from "../support/case.js";
import packageJson from "../../package.json" with { type: "json" };

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const PAGES = [...pagesOf("."), ...["docs", "envoy-config", "tests", "bench", "demo", "examples"].flatMap(pagesBelow)];
const CASES = caseFiles();
/** The first words of the cases' names: a name that begins so is meant as one. */
const CASE_NAME = new RegExp(
  `^(?:${[...new Set([...CASES.keys()].map((name) => name.split("-")[0]))].join("|")})-[a-z0-9-]+$`,
);

describe.each(PAGES)("%s", (page) => {
  const text = read(page);

  test("links to files that exist", () => {
    const links = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map((match) => match[1] ?? "");
    const local = links.filter((link) => !/^https?:/.test(link)).map((link) => link.replace(/#.*/, ""));
    expect(local.filter((link) => !existsSync(join(ROOT, dirname(page), link)))).toEqual([]);
  });

  test("links to headings that exist", () => {
    const links = [...text.matchAll(/\]\(([^)\s:]*)#([^)\s]+)\)/g)].map(
      (match) => [match[1] ?? "", match[2] ?? ""] as const,
    );
    const target = (file: string) => (file === "" ? page : join(dirname(page), file));
    const broken = links.filter(([file, anchor]) => /(^|\.md)$/.test(file) && !anchorsOf(target(file)).has(anchor));
    expect(broken.map((link) => link.join("#"))).toEqual([]);
  });

  test("names tests and conformance cases that exist", () => {
    const quoted = [...text.matchAll(/`([^`\n]+)`/g)].map((match) => match[1] ?? "");
    const files = quoted.filter((name) => /^tests\/[^*<]+$/.test(name));
    expect(files.filter((file) => !existsSync(ROOT + file))).toEqual([]);
    expect(quoted.filter((name) => CASE_NAME.test(name) && !CASES.has(name))).toEqual([]);
  });

  test("selects conformance cases that exist", () => {
    const selected = [...text.matchAll(/\bCASE=([a-z0-9,-]+)/g)].flatMap((match) => (match[1] ?? "").split(","));
    const matches = (prefix: string) => [...CASES.keys()].some((name) => name.startsWith(prefix));
    expect(selected.filter((prefix) => !matches(prefix))).toEqual([]);
  });

  test("names scripts that package.json has", () => {
    const scripts = [...text.matchAll(/npm run ([\w:-]+)/g)].map((match) => match[1] ?? "");
    expect(scripts.filter((script) => !Object.hasOwn(packageJson.scripts, script))).toEqual([]);
  });
});

test("the README shows the config of envoy-config/start", () => {
  const shown = /```yaml\n([^]*?)```/.exec(read("README.md"))?.[1] ?? "";
  expect(shown).toBe(read("envoy-config/start/native.yaml"));
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

test("every counter of the modules is documented, and no other", () => {
  const source = read("assembly/host/counters.ts") + read("assembly/hold/counters.ts");
  const counters = [...source.matchAll(/"attempt_router\.(\w+)"/g)].map((match) => match[1]);
  const documented = [...read("docs/counters.md").matchAll(/^\| `(\w+)`/gm)].map((match) => match[1]);
  expect(documented).toEqual([...new Set(counters)]);
});

test("every setting of a route is documented, and no other", () => {
  const message = /message RouteSettings \{([^]*?)\n\}/.exec(read("proto/attempt_router/v1/settings.proto"))?.[1] ?? "";
  const fields = [...message.matchAll(/^ {2}[\w. ]+ (\w+) = \d+;/gm)].map((match) => match[1]);
  const documented = [...read("docs/settings.md").matchAll(/^\| `(\w+)`/gm)].map((match) => match[1]);
  expect(documented).toEqual(fields);
});

test("every form of a route is documented, from the cheapest to the dearest", () => {
  expect(firstCells("docs/forms.md", "## The forms")).toEqual(FORMS.map((form) => `\`${form}\``));
});

test("every reason that declines a form is documented, and no other", () => {
  const choosing = readdirSync(`${ROOT}cli/choose`).map((file) => `cli/choose/${file}`);
  const preparing = ["clusters", "override", "plan", "prepare"].map((name) => `cli/lower/${name}.ts`);
  const literals = [...choosing, ...preparing].flatMap((file) =>
    literalsOf(read(file), /because: ?("[^"]+"|`[^`]+`)/g),
  );
  const ofShares = literalsOf(read("cli/choose/weights.ts"), /[?=)] (?:return )?("[^"]{20,}"|`[^`]{20,}`)/g);
  expect(ofShares.length).toBeGreaterThan(5);
  const documented = firstCells("docs/forms.md", "## Why not a cheaper one");
  expect(documented.toSorted()).toEqual([...new Set([...literals, ...ofShares])].sort());
});

test("every dependency has its reason", () => {
  const dependencies = [...Object.keys(packageJson.dependencies), ...Object.keys(packageJson.devDependencies)];
  const table = read("docs/RATIONALE.md").split("## Why is each dependency there?")[1] ?? "";
  const rows = table.split("\n").filter((line) => line.startsWith("| `"));
  const named = rows.flatMap((row) => [...(row.split("|")[1] ?? "").matchAll(/`([^`]+)`/g)].map((match) => match[1]));
  expect(named.sort()).toEqual(dependencies.sort());
});

test("every conformance case that deviates is listed as a difference", () => {
  const deviating = [...CASES].filter(([, file]) => /^(deviation|lowering_error):/m.test(readFileSync(file, "utf8")));
  const page = read("docs/differences.md");
  expect(deviating.map(([name]) => name).filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
});

test("every difference names what pins it", () => {
  const rows = read("docs/differences.md")
    .split("\n")
    .filter((line) => line.startsWith("| ") && !/^\| (---|what|\|)/.test(line));
  const pins = (row: string): string => /`([^`]*)` \|$/.exec(row)?.[1] ?? "";
  expect(rows.length).toBeGreaterThan(30);
  expect(rows.filter((row) => !CASES.has(pins(row)) && !existsSync(ROOT + (pins(row) || "nothing")))).toEqual([]);
});

/** The first cells of the table below a heading. */
function firstCells(page: string, heading: string): string[] {
  const section = (read(page).split(`${heading}\n`)[1] ?? "").split("\n## ")[0] ?? "";
  return [...section.matchAll(/^\| (.+?) \|/gm)].map((match) => match[1] ?? "").slice(2);
}

/** What stands between the quotes of each match, with `…` for what is filled in. */
function literalsOf(source: string, pattern: RegExp): string[] {
  const literals = [...source.matchAll(pattern)].map((match) => (match[1] ?? "").slice(1, -1));
  return literals.map((literal) => literal.replace(/\$\{(?:[^{}]|\{[^{}]*\})*\}/g, "…"));
}

/** The anchors that GitHub gives the headings of a page. */
function anchorsOf(page: string): Set<string> {
  const headings = [...read(page).matchAll(/^#+ (.*)$/gm)].map((match) => match[1] ?? "");
  const plain = headings.map((heading) => heading.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").toLowerCase());
  return new Set(plain.map((heading) => heading.replace(/[^\p{L}\p{N} _-]/gu, "").replaceAll(" ", "-")));
}

function pagesBelow(folder: string): string[] {
  const files = readdirSync(ROOT + folder, { recursive: true, encoding: "utf8" });
  return files
    .filter((file) => file.endsWith(".md") && !file.includes("node_modules"))
    .map((file) => `${folder}/${file}`);
}

function pagesOf(folder: string): string[] {
  const files = readdirSync(ROOT + folder).filter((file) => file.endsWith(".md"));
  return files.map((file) => join(folder, file));
}

function read(path: string): string {
  return readFileSync(ROOT + path, "utf8");
}
