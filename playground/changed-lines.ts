// Which lines of the lowered file are not those of the input.

/** So far a line is looked for; what is farther away counts as changed. */
const FAR = 400;

/** The numbers, from 1, of the lines of `after` that are added or changed. */
export function changedLines(before: string, after: string): number[] {
  const [old, now] = [before.split("\n"), after.split("\n")];
  const changed: number[] = [];
  let [i, j] = [0, 0];
  while (j < now.length) {
    if (old[i] === now[j]) {
      i += 1;
      j += 1;
      continue;
    }
    const { removed, added } = nextCommon(old, now, i, j);
    for (let line = j; line < j + added; line++) changed.push(line + 1);
    i += removed;
    j += added;
  }
  return changed;
}

/** The smallest steps in both files after which they have a line in common; without one, a line of each. */
function nextCommon(old: string[], now: string[], i: number, j: number): { removed: number; added: number } {
  const most = Math.min(FAR, old.length - i + now.length - j);
  for (let steps = 1; steps <= most; steps++) {
    for (let removed = 0; removed <= steps; removed++) {
      const [left, right] = [old[i + removed], now[j + steps - removed]];
      if (left !== undefined && left === right && left.trim() !== "") return { removed, added: steps - removed };
    }
  }
  return { removed: 1, added: 1 };
}
