import { readFile, writeFile } from "node:fs/promises";

/** Measured values by curve, line and x. */
export type Results = Record<string, Record<string, Record<string, number>> | undefined>;

/** The results in a file; none where there is no such file. */
export async function readResults(file: string): Promise<Results> {
  try {
    return JSON.parse(await readFile(file, "utf8")) as Results;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return {};
    throw error;
  }
}

/** Puts a point beside those that the file has, or in the place of an earlier one. */
export async function addPoint(file: string, curve: string, line: string, x: number, value: number): Promise<void> {
  const results = await readResults(file);
  ((results[curve] ??= {})[line] ??= {})[x] = value;
  await writeFile(file, `${JSON.stringify(results, null, 2)}\n`);
}
