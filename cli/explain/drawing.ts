// The attempts of a request as SVG: a column for each attempt, a box for each cluster, a line for each way.

import type { Explanation, ExplainedAttempt, Path } from "./explanation.js";
import { escaped } from "./html.js";
import { percent } from "./resolve.js";

const COLUMN = 230;
const BOX_WIDTH = 170;
const TOP = 66;
const GAP = 14;
/** Height of a box with no share at all, and what all shares add. */
const [LEAST, MOST] = [34, 96];
/** More columns than this would not be looked at. */
const MAX_COLUMNS = 12;

interface Box {
  cluster: string;
  probability: number;
  x: number;
  y: number;
  height: number;
  marked: boolean;
}

/** An inline `<svg>` whose colours are the page's. */
export function drawing({ attempts, paths, result }: Explanation): string {
  const shown = attempts.slice(0, MAX_COLUMNS);
  const way = shown.map((attempt, index) => attempt.cluster ?? paths[0]?.clusters[index] ?? nameOf(attempt));
  const columns = shown.map((attempt, index) => boxesOf(attempt, index, way[index]));
  const height =
    Math.max(...columns.map((boxes) => boxes.reduce((end, box) => Math.max(end, box.y + box.height), 0))) + 16;
  const width = shown.length * COLUMN + 130;
  const parts = [
    ...linesOf(columns, paths, way),
    ...shown.map(headOf),
    ...columns.flat().map(boxOf),
    endOf(
      result,
      columns.at(-1)?.find(({ marked }) => marked),
      width,
    ),
  ];
  const label = shown.map(({ attempt }, index) => `attempt ${attempt}: ${way[index] ?? "nowhere"}`).join(", ");
  return `<svg width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escaped(label)}">${parts.join("")}</svg>`;
}

function nameOf({ candidates }: ExplainedAttempt): string {
  return candidates[0]?.cluster ?? "";
}

function boxesOf({ candidates }: ExplainedAttempt, column: number, marked: string | undefined): Box[] {
  let y = TOP;
  return candidates.slice(0, 12).map(({ cluster, probability }) => {
    const height = Math.round(LEAST + (MOST - LEAST) * probability);
    const box = { cluster, probability, x: column * COLUMN + 10, y, height, marked: cluster === marked };
    y += height + GAP;
    return box;
  });
}

function headOf({ attempt, group, answer }: ExplainedAttempt, column: number): string {
  const x = column * COLUMN + 10;
  const name = group === null || group === "" ? "" : ` · ${shortened(group)}`;
  const said = answer === null ? "it depends" : String(answer);
  return `<text x="${x}" y="22">attempt ${attempt}${escaped(name)}</text><text class="soft" x="${x}" y="42">answer: ${escaped(said)}</text>`;
}

function boxOf({ cluster, probability, x, y, height, marked }: Box): string {
  const middle = y + height / 2 - 3;
  return (
    `<g><title>${escaped(cluster)}: ${percent(probability)}</title>` +
    `<rect class="${marked ? "marked" : "box"}" x="${x}" y="${y}" width="${BOX_WIDTH}" height="${height}" rx="6"/>` +
    `<text x="${x + 10}" y="${middle}">${escaped(shortened(cluster))}</text>` +
    `<text class="soft" x="${x + 10}" y="${middle + 15}">${percent(probability)}</text></g>`
  );
}

/** Lines between columns; the marked way is drawn last, over the others. */
function linesOf(
  columns: readonly (readonly Box[])[],
  paths: readonly Path[],
  way: readonly (string | null | undefined)[],
): string[] {
  const shares = new Map<string, { from: Box; to: Box; share: number; marked: boolean }>();
  for (const { clusters, probability } of paths) {
    for (let column = 0; column + 1 < columns.length; column++) {
      const from = columns[column]?.find(({ cluster }) => cluster === clusters[column]);
      const to = columns[column + 1]?.find(({ cluster }) => cluster === (clusters[column + 1] ?? way[column + 1]));
      if (from === undefined || to === undefined || clusters.length <= column + 1) continue;
      const key = `${column}/${from.cluster}/${to.cluster}`;
      const share = (shares.get(key)?.share ?? 0) + probability;
      shares.set(key, { from, to, share, marked: from.marked && to.marked });
    }
  }
  const lines = [...shares.values()].sort((a, b) => Number(a.marked) - Number(b.marked));
  return lines.map(({ from, to, share, marked }) => line(from, to.x, to.y + to.height / 2, share, marked));
}

function line(from: Box, x: number, y: number, share: number, marked: boolean): string {
  const [left, middle] = [from.x + BOX_WIDTH, from.y + from.height / 2];
  const bend = (x - left) / 2;
  const width = (1.5 + 5 * share).toFixed(1);
  return `<path class="${marked ? "way" : "edge"}" stroke-width="${width}" d="M${left} ${middle}C${left + bend} ${middle} ${x - bend} ${y} ${x} ${y}"/>`;
}

function endOf(result: Explanation["result"], last: Box | undefined, width: number): string {
  const y = last === undefined ? TOP + 20 : last.y + last.height / 2;
  const x = width - 90;
  const way = last === undefined ? "" : line(last, x - 8, y, 0.5, true);
  return `${way}<text x="${x}" y="${y + 4}" font-weight="600">${result.status ?? "it depends"}</text>`;
}

/** Long names end before the box does; the whole name is its title. */
function shortened(name: string): string {
  return name.length <= 22 ? name : `${name.slice(0, 21)}…`;
}
