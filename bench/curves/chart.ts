// A line chart as SVG: the x axis is logarithmic, its ticks are the measured points, and lines are labelled where they end.

export interface Line {
  label: string;
  /** Which of the colours; lines to compare share one. */
  color: number;
  /** Dashed lines are what others are compared with. */
  dashed: boolean;
  /** Values by x. A line with one value is drawn from end to end. */
  values: Readonly<Record<string, number>>;
}

export interface Chart {
  title: string;
  /** What the picture says, for those who cannot see it; the lines' ends are added. */
  description: string;
  x: string;
  y: string;
  /** Linear axes begin at 0. */
  yScale: "linear" | "log";
  /** How a value is written at the y axis and in the description. */
  format: (value: number) => string;
  lines: readonly Line[];
}

type Scale = (value: number) => number;

interface Frame {
  x: Scale;
  y: Scale;
  xs: number[];
  yTicks: number[];
}

const WIDTH = 840;
const HEIGHT = 400;
const LEFT = 90;
const RIGHT = 590;
const TOP = 84;
const BOTTOM = 340;
const LINE_HEIGHT = 17;
const COLORS = [
  { light: "#0969da", dark: "#58a6ff" },
  { light: "#bc4c00", dark: "#f0883e" },
  { light: "#1a7f37", dark: "#56d364" },
  { light: "#8250df", dark: "#bc8cff" },
];

/** The chart as an SVG document. @throws Error where a line has no values. */
export function drawChart(chart: Chart): string {
  const frame = frameOf(chart);
  const parts = [
    `<title id="title">${escape(chart.title)}</title>`,
    `<desc id="desc">${escape(describe(chart))}</desc>`,
    `<style>${style()}</style>`,
    `<rect class="card" width="${WIDTH}" height="${HEIGHT}" rx="12"/>`,
    text(24, 34, "heading", chart.title),
    text(24, 60, "quiet", chart.y),
    ...grid(chart, frame),
    ...chart.lines.flatMap((line) => drawLine(line, frame)),
    ...labels(chart.lines, frame),
  ];
  const head = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-labelledby="title desc">`;
  return `${[head, ...parts.map((part) => `  ${part}`), "</svg>"].join("\n")}\n`;
}

function frameOf({ lines, yScale }: Chart): Frame {
  const xs = [...new Set(lines.flatMap(({ values }) => Object.keys(values).map(Number)))].sort((a, b) => a - b);
  const all = lines.flatMap(({ values }) => Object.values(values));
  if (xs.length === 0 || lines.some(({ values }) => Object.keys(values).length === 0)) {
    throw new Error("a line of a chart has no values");
  }
  const yTicks = yScale === "log" ? decades(Math.min(...all), Math.max(...all)) : steps(Math.max(...all));
  const ends = [yTicks[0] ?? 0, lastOf(yTicks) ?? 1] as const;
  const y = yScale === "log" ? logScale(...ends, BOTTOM, TOP) : linearScale(...ends, BOTTOM, TOP);
  return { x: logScale(xs[0] ?? 1, lastOf(xs) ?? 1, LEFT, RIGHT), y, xs, yTicks };
}

function linearScale(from: number, to: number, start: number, end: number): Scale {
  return (value) => start + ((value - from) / (to - from)) * (end - start);
}

function logScale(from: number, to: number, start: number, end: number): Scale {
  const linear = linearScale(Math.log(from), Math.log(to), start, end);
  return (value) => linear(Math.log(value));
}

/** 0, and about five round numbers up to one that is not below `max`. */
function steps(max: number): number[] {
  const rough = max / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10) * power;
  return Array.from({ length: Math.ceil(max / step) + 1 }, (_, i) => i * step);
}

/** The powers of ten around these values. */
function decades(min: number, max: number): number[] {
  const [low, high] = [Math.floor(Math.log10(min)), Math.ceil(Math.log10(max))];
  return Array.from({ length: high - low + 1 }, (_, i) => 10 ** (low + i));
}

function grid(chart: Chart, { x, y, xs, yTicks }: Frame): string[] {
  return [
    ...yTicks.flatMap((tick) => [
      `<path class="grid" d="M${LEFT} ${round(y(tick))}H${RIGHT}"/>`,
      text(LEFT - 10, y(tick) + 4, "quiet end", chart.format(tick)),
    ]),
    ...xs.flatMap((tick) => [
      `<path class="tick" d="M${round(x(tick))} ${BOTTOM}v5"/>`,
      text(x(tick), BOTTOM + 20, "quiet middle", tick.toLocaleString("en")),
    ]),
    text((LEFT + RIGHT) / 2, BOTTOM + 44, "quiet middle", chart.x),
  ];
}

function drawLine({ values, color, dashed }: Line, { x, y, xs }: Frame): string[] {
  const points = Object.entries(values).map(([at, value]) => [round(x(Number(at))), round(y(value))] as const);
  const [[, only] = [0, 0], ...others] = points;
  const isFlat = others.length === 0 && xs.length > 1;
  const path = isFlat ? `M${LEFT} ${only}H${RIGHT}` : `M${points.map((point) => point.join(" ")).join("L")}`;
  const marks = isFlat ? [] : points.map(([cx, cy]) => `<circle class="fill${color}" cx="${cx}" cy="${cy}" r="3"/>`);
  return [`<path class="line stroke${color}${dashed ? " dashed" : ""}" d="${path}"/>`, ...marks];
}

// Labels of lines that end close together are moved apart, in the order in which the lines end.
function labels(lines: readonly Line[], { y }: Frame): string[] {
  const wanted = lines.map((line) => ({ line, at: y(lastOf(Object.values(line.values)) ?? 0) + 4 }));
  wanted.sort((a, b) => a.at - b.at);
  const places = spread(wanted.map(({ at }) => at));
  return wanted.map(({ line }, i) => text(RIGHT + 12, places[i] ?? 0, `fill${line.color}`, line.label));
}

/** Moves ascending places down until each is a line's height from the next, and all of them up where the last is too low. */
function spread(places: number[]): number[] {
  const apart = places.reduce<number[]>((done, at) => [...done, Math.max(at, (lastOf(done) ?? 0) + LINE_HEIGHT)], []);
  const limits = apart.map((_, i) => BOTTOM + 4 - (apart.length - 1 - i) * LINE_HEIGHT);
  return apart.map((at, i) => Math.min(at, limits[i] ?? at));
}

function describe({ description, x, lines, format }: Chart): string {
  const ends = lines.map(({ label, values }) => {
    const entries = Object.entries(values);
    const [first, last] = [entries[0], lastOf(entries)];
    if (first === undefined || last === undefined || entries.length === 1)
      return `${label}: ${format(first?.[1] ?? 0)}`;
    return `${label}: ${format(first[1])} at ${first[0]}, ${format(last[1])} at ${last[0]}`;
  });
  return `${description} By ${x}: ${ends.join("; ")}.`;
}

function style(): string {
  const themed = (theme: "light" | "dark", ink: string, quiet: string, line: string, card: string) => [
    `.card{fill:${card}}`,
    `text{fill:${ink}}.quiet{fill:${quiet}}`,
    `.grid,.tick{stroke:${line}}`,
    ...COLORS.map((color, i) => `.stroke${i}{stroke:${color[theme]}}.fill${i}{fill:${color[theme]}}`),
  ];
  return [
    "text{font:14px DejaVu Sans,Verdana,Arial,sans-serif}.heading{font-weight:bold;font-size:16px}.quiet{font-size:13px}",
    ".middle{text-anchor:middle}.end{text-anchor:end}.line{fill:none;stroke-width:2}.dashed{stroke-dasharray:6 5}",
    ...themed("light", "#1f2328", "#57606a", "#d0d7de", "#ffffff"),
    `@media (prefers-color-scheme:dark){${themed("dark", "#e6edf3", "#9198a1", "#3d444d", "#151b23").join("")}}`,
  ].join("");
}

function text(x: number, y: number, className: string, content: string): string {
  return `<text class="${className}" x="${round(x)}" y="${round(y)}">${escape(content)}</text>`;
}

function lastOf<T>(list: readonly T[]): T | undefined {
  return list[list.length - 1];
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}

function escape(content: string): string {
  return content.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
