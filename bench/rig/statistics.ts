/** The value below which the given share of the values lies, nearest rank. */
export function percentile(values: readonly number[], share: number): number {
  if (values.length === 0) return Number.NaN;
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

/** The middle value, or the mean of the middle two. */
export function median(values: readonly number[]): number {
  if (values.length === 0) return Number.NaN;
  const sorted = [...values].sort((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
  const lower = sorted[Math.ceil(sorted.length / 2) - 1] ?? Number.NaN;
  return (upper + lower) / 2;
}

/**
 * A figure against its floor when both were taken in every round, one after the other: the median of the
 * rounds' ratios, with the least and the greatest as what noise does to it.
 */
export function computeRatio(
  figures: readonly number[],
  floors: readonly number[],
): { ratio: number; low: number; high: number } {
  const ratios = figures.map((figure, round) => figure / (floors[round] ?? Number.NaN));
  return { ratio: median(ratios), low: Math.min(...ratios), high: Math.max(...ratios) };
}
