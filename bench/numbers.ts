/** The value below which the share `q` (0 to 1) of the values lies, between two of them by their distance. */
export function quantile(values: readonly number[], q: number): number {
  if (values.length === 0) throw new Error("expected at least one value");
  const sorted = ascending(values);
  const position = q * (sorted.length - 1);
  const below = Math.floor(position);
  const [low, high] = [sorted[below] as number, sorted[Math.min(below + 1, sorted.length - 1)] as number];
  return low + (position - below) * (high - low);
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

export function ascending(values: readonly number[]): number[] {
  return [...values].sort((a, b) => a - b);
}

export function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
