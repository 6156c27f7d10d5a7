// docs/README.md is the table of contents, and gives the order of the site.

import { readdirSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { sectionsOf } from "../../tools/site/contents.js";

const DOCS = fileURLToPath(new URL("../../docs/", import.meta.url));
const sections = sectionsOf(readFileSync(`${DOCS}README.md`, "utf8"));

test("every page is in the table of contents, once", () => {
  const files = readdirSync(DOCS, { recursive: true, encoding: "utf8" }).map((file) => file.split("\\").join("/"));
  // check.md lists the pages of the checks, and a test of the checks holds that.
  const pages = files.filter((file) => file.endsWith(".md") && file !== "README.md" && !file.startsWith("checks/"));
  const listed = sections.flatMap((section) => section.pages.map(({ file }) => posix.normalize(file)));
  expect(listed.filter((file) => !file.startsWith("..")).sort()).toEqual(pages.sort());
});

test("tasks come first, internals last", () => {
  expect(sections.map(({ title }) => title)).toEqual(["Start", "Recipes", "Operate", "Reference", "How it works"]);
});
