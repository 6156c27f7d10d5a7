import { UnusableInput } from "./figures.js";
import type { Row } from "./rows.js";

/**
 * The rows whose name contains one of `wanted` (all, if there is none) and none of `unwanted`, and those that they are
 * compared with unless `known` has them; in the order of `rows`.
 * @throws UnusableInput for a text that no row contains.
 */
export function selectRows(rows: Row[], wanted: string[], unwanted: string[], known: Set<string>): Row[] {
  for (const text of [...wanted, ...unwanted]) {
    if (!rows.some(({ name }) => name.includes(text))) throw new UnusableInput(`no row's name contains "${text}"`);
  }
  const isWanted = ({ name }: Row) => wanted.length === 0 || wanted.some((text) => name.includes(text));
  const isUnwanted = ({ name }: Row) => unwanted.some((text) => name.includes(text));
  const chosen = rows.filter((row) => isWanted(row) && !isUnwanted(row));
  const names = new Set(chosen.map(({ name }) => name));
  const compared = new Set(
    chosen.map(({ against }) => against).filter((name) => name !== undefined && !known.has(name)),
  );
  return rows.filter(({ name }) => names.has(name) || compared.has(name));
}
