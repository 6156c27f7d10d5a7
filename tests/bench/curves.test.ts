import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { drawChart, type Chart } from "../../bench/curves/chart.js";
import { drawAll, PICTURES } from "../../bench/curves/pictures.js";
import results from "../../bench/results/curves.json" with { type: "json" };

const IMAGES = new URL("../../docs/images/", import.meta.url);

test("the pictures are those of the measured curves", () => {
  const drawn = drawAll(results);
  expect(Object.keys(drawn)).toEqual(PICTURES.map(({ file }) => file));
  const files = readdirSync(IMAGES).filter((name) => name.startsWith("scale-"));
  expect(files.sort()).toEqual(Object.keys(drawn).sort());
  for (const file of files) expect(readFileSync(new URL(file, IMAGES), "utf8") === drawn[file], file).toBe(true);
});

test("every picture is in the page", () => {
  const page = readFileSync(new URL("../../docs/performance.md", import.meta.url), "utf8");
  expect(PICTURES.filter(({ file }) => !page.includes(`](images/${file})`))).toEqual([]);
});

const CHART: Chart = {
  title: "A < B & C",
  description: "What is drawn.",
  x: "things",
  y: "costs",
  yScale: "linear",
  format: String,
  lines: [
    { label: "one", color: 0, dashed: false, values: { 1: 10, 10: 40, 100: 50 } },
    { label: "other", color: 0, dashed: true, values: { 1: 50 } },
  ],
};

test("a logarithmic x axis gives every decade the same width, and a linear y axis begins at 0", () => {
  const circles = [...drawChart(CHART).matchAll(/<circle [^>]*cx="([\d.]+)" cy="([\d.]+)"/g)];
  const [xs, ys] = [1, 2].map((group) => circles.map((circle) => Number(circle[group])));
  expect(xs).toEqual([90, 340, 590]);
  // 0 lies at 340 and 50, the greatest tick, at 84.
  expect(ys).toEqual([288.8, 135.2, 84]);
});

test("a line with one value runs from end to end, and labels that would overlap are moved apart", () => {
  const svg = drawChart(CHART);
  expect(svg).toContain('<path class="line stroke0 dashed" d="M90 84H590"/>');
  expect(svg).toContain('<text class="fill0" x="602" y="88">one</text>');
  expect(svg).toContain('<text class="fill0" x="602" y="105">other</text>');
});

test("texts are escaped, and the description holds the ends of the lines", () => {
  const svg = drawChart(CHART);
  expect(svg).toContain('<title id="title">A &lt; B &amp; C</title>');
  expect(svg).toContain("What is drawn. By things: one: 10 at 1, 50 at 100; other: 50.</desc>");
});

test("a line without values is no line", () => {
  const empty = { label: "empty", color: 0, dashed: false, values: {} };
  expect(() => drawChart({ ...CHART, lines: [empty] })).toThrow("no values");
});
