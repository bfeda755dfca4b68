/** The 95 % interval of a share, after Wilson (1927): honest also near 0 and 1. */
export function wilson(hits: number, runs: number): readonly [number, number] {
  if (runs === 0) return [0, 1];
  const z = 1.959964;
  const share = hits / runs;
  const middle = share + (z * z) / (2 * runs);
  const reach = z * Math.sqrt((share * (1 - share)) / runs + (z * z) / (4 * runs * runs));
  const scale = 1 + (z * z) / runs;
  return [Math.max(0, (middle - reach) / scale), Math.min(1, (middle + reach) / scale)];
}
