// Which pictures are drawn from the results.

import { drawChart, type Chart, type Line } from "./chart.js";
import type { Results } from "./results.js";

/** A line of the results, and how it is drawn. */
type Drawn = [line: string, label: string, color: number, dashed?: "dashed"];

interface Picture extends Omit<Chart, "lines"> {
  file: string;
  curve: string;
  drawn: Drawn[];
}

/** The worker without `PROBE`'s main thread, which has nothing to do. */
const WATCHING = ["PROBE, worker", "ADMIN, worker", "ADMIN, main thread"].map((line, i): Drawn => [line, line, i]);
const INSTRUCTIONS = { y: "instructions per request", yScale: "linear", format: number } as const;
const REQUESTS = { ...INSTRUCTIONS, description: "Instructions of Envoy's worker for a request, native and lowered." };
const BYTES = ["B", "KB", "MB", "GB"];

export const PICTURES: Picture[] = [
  {
    ...REQUESTS,
    file: "scale-groups.svg",
    curve: "groups",
    title: "Priority groups of a chain",
    x: "groups",
    drawn: [...bothForms("80/20 in every group", 0), ...bothForms("single clusters", 1)],
  },
  {
    ...REQUESTS,
    file: "scale-clusters.svg",
    curve: "clusters",
    title: "Clusters of the first group",
    x: "clusters",
    drawn: [...bothForms("equal weights", 0), ...bothForms("80 % to the first", 1)],
  },
  {
    ...REQUESTS,
    file: "scale-routes-first.svg",
    curve: "routes",
    title: "Routes, the request takes the first",
    x: "routes",
    drawn: [
      ["lowered, a chain each, first route", "lowered, a chain each", 0],
      ["lowered, one chain, first route", "lowered, all share one chain", 1],
      ["native, a chain each, first route", "native", 0, "dashed"],
    ],
  },
  {
    ...REQUESTS,
    file: "scale-routes-last.svg",
    curve: "routes",
    title: "Routes, the request takes the last",
    yScale: "log",
    format: short,
    x: "routes",
    drawn: [
      ["lowered, a chain each, last route", "lowered, a chain each", 0],
      ["lowered, one chain, last route", "lowered, all share one chain", 1],
      ["native, a chain each, last route", "native", 0, "dashed"],
    ],
  },
  {
    ...INSTRUCTIONS,
    file: "scale-specifiers.svg",
    curve: "specifiers",
    title: "Route specifiers of a route",
    description: "Instructions of Envoy's worker for a request on a route with specifiers.",
    x: "specifiers",
    drawn: [
      ["specifiers that hold", "all override the time-out", 0],
      ["specifiers that fail at a header each", "fail, a header each", 1],
      ["specifiers that fail at one header", "fail, the same header", 2],
      ["a plain route", "a plain route", 3, "dashed"],
    ],
  },
  {
    ...REQUESTS,
    file: "scale-watched-requests.svg",
    curve: "watched-requests",
    title: "Clusters watched for availability: requests",
    x: "watched clusters",
    drawn: [...bothForms("served", 0), ...bothForms("no host", 1)],
  },
  {
    file: "scale-watched-tick.svg",
    curve: "watched-tick",
    title: "Clusters watched for availability: ticks",
    description: "Instructions of a tick and its answers.",
    x: "watched clusters",
    y: "instructions per tick",
    yScale: "log",
    format: short,
    drawn: WATCHING,
  },
  {
    file: "scale-watched-cpu.svg",
    curve: "watched-cpu",
    title: "Clusters watched for availability: time",
    description: "CPU of an Envoy that does nothing but ask which clusters have a host.",
    x: "watched clusters",
    y: "percent of a core, with the intervals that are the default",
    yScale: "linear",
    format: (value) => `${Number(value.toPrecision(2))} %`,
    drawn: WATCHING,
  },
  {
    file: "scale-watched-start.svg",
    curve: "watched-start",
    title: "Clusters watched for availability: start",
    description: "Milliseconds until the module is loaded and configured in one virtual machine, under Node.js.",
    x: "watched clusters",
    y: "milliseconds in each virtual machine",
    yScale: "log",
    format: (value) => `${number(Number(value.toPrecision(3)))} ms`,
    drawn: [["module", "loaded and configured", 0]],
  },
  {
    file: "scale-lower-size.svg",
    curve: "lower",
    title: "Sizes by number of routes",
    description: "Bytes of a file before and after lowering, and of memory.",
    x: "routes, a chain each",
    y: "bytes",
    yScale: "log",
    format: bytes,
    drawn: [
      ["memory", "memory of lower", 0],
      ["output", "lowered file", 1],
      ["input", "native file", 1, "dashed"],
      ["module", "memory of the module", 2],
    ],
  },
  {
    file: "scale-lower-time.svg",
    curve: "lower",
    title: "Time of lower by number of routes",
    description: "Seconds of CPU that lowering takes.",
    x: "routes, a chain each",
    y: "seconds of CPU",
    yScale: "log",
    format: (value) => `${Number(value.toPrecision(2))} s`,
    drawn: [["seconds", "lower", 0]],
  },
];

/** The pictures whose lines were measured, by their files' names. */
export function drawAll(results: Results): Record<string, string> {
  return Object.fromEntries(
    PICTURES.flatMap(({ file, curve, drawn, ...chart }) => {
      const lines = drawn.flatMap((line) => lineOf(line, results[curve]));
      return lines.length < drawn.length ? [] : [[file, drawChart({ ...chart, lines })]];
    }),
  );
}

function bothForms(what: string, color: number): Drawn[] {
  return [
    [`lowered, ${what}`, `lowered, ${what}`, color],
    [`native, ${what}`, `native, ${what}`, color, "dashed"],
  ];
}

function lineOf([line, label, color, dashed]: Drawn, curve: Results[string]): Line[] {
  const values = curve?.[line];
  return values === undefined ? [] : [{ label, color, dashed: dashed !== undefined, values }];
}

function number(value: number): string {
  return value.toLocaleString("en");
}

/** Three digits with k, M or G. */
function short(value: number): string {
  return scaled(value, ["", " k", " M", " G"]);
}

function bytes(value: number): string {
  return scaled(
    value,
    BYTES.map((unit) => ` ${unit}`),
  );
}

function scaled(value: number, units: readonly string[]): string {
  const power = Math.min(Math.floor(Math.log10(value) / 3), units.length - 1);
  return `${Number((value / 1000 ** power).toPrecision(3))}${units[power] ?? ""}`;
}
