/** Percentile by nearest rank. */
export function percentile(values: readonly number[], share: number): number {
  if (values.length === 0) return Number.NaN;
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}

/** Middle value, or the mean of the middle two. */
export function median(values: readonly number[]): number {
  if (values.length === 0) return Number.NaN;
  const sorted = [...values].sort((a, b) => a - b);
  const upper = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
  const lower = sorted[Math.ceil(sorted.length / 2) - 1] ?? Number.NaN;
  return (upper + lower) / 2;
}

/**
 * Ratio of a figure to its floor, both measured in every round: the median of the rounds' ratios, with the smallest and
 * largest as the noise.
 */
export function computeRatio(
  figures: readonly number[],
  floors: readonly number[],
): { ratio: number; low: number; high: number } {
  const ratios = figures.map((figure, round) => figure / (floors[round] ?? Number.NaN));
  return { ratio: median(ratios), low: Math.min(...ratios), high: Math.max(...ratios) };
}
