// The file that `npm run bench:instructions -- --json FILE` writes.

import { readFile } from "node:fs/promises";

/** A measured row. */
export interface Figure {
  /** Per request. */
  instructions: number;
  /** The row that it is compared with, and the ratio of the two. */
  against?: string;
  ratio?: number;
}

/** What figures depend on; only those that agree in all of it can be compared. */
export interface Conditions {
  envoy: string;
  processor: string;
  /** Digest of our module. */
  module: string;
  warmUp: number;
  requests: number;
}

export interface Figures {
  conditions: Conditions;
  results: Record<string, Figure>;
}

/** Input that cannot be used, or a tool that is missing; the message says how to go on. */
export class UnusableInput extends Error {}

/** @throws UnusableInput, naming the file and, if it is to blame, the row. */
export async function readFigures(file: string): Promise<Figures> {
  const text = await readFile(file, "utf8").catch((error: unknown) => {
    throw new UnusableInput(`${file}: cannot be read: ${(error as Error).message}`);
  });
  const figures = parseJson(file, text) as Partial<Figures> | null;
  if (!isObject(figures?.results) || !isObject(figures.conditions)) {
    throw new UnusableInput(`${file}: expected what \`npm run bench:instructions -- --json FILE\` writes`);
  }
  for (const [name, figure] of Object.entries(figures.results)) {
    const instructions = isObject(figure) ? figure.instructions : undefined;
    if (typeof instructions !== "number" || !(instructions > 0)) {
      throw new UnusableInput(`${file}: row "${name}": expected a positive number of instructions`);
    }
  }
  return figures as Figures;
}

/** Compares every row with the one it names, as far as both were measured. */
export function setRatios(results: Record<string, Figure>): void {
  for (const figure of Object.values(results)) {
    const other = figure.against === undefined ? undefined : results[figure.against];
    if (other !== undefined) figure.ratio = Number((figure.instructions / other.instructions).toFixed(4));
  }
}

/** The condition in which two sets of figures differ, if there is one. */
export function differingCondition(one: Conditions, other: Conditions): keyof Conditions | undefined {
  return (Object.keys(one) as (keyof Conditions)[]).find((key) => one[key] !== other[key]);
}

function parseJson(file: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UnusableInput(`${file}: no JSON: ${(error as Error).message}`);
  }
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}
