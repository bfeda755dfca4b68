/** Lines of a log by the numbers of their events, of which some may be missing. */

/** The number of a line's event. */
export function numberOf(line: string): number {
  return Number(/"seq":(\d+)/.exec(line.slice(0, 300))?.[1] ?? Number.NaN);
}

/** The last event's number, −1 without one. */
export function lastOf(lines: readonly string[]): number {
  const last = lines.at(-1);
  return last === undefined ? -1 : numberOf(last);
}

/** The place of the first line whose number is not below one. */
export function indexOf(lines: readonly string[], seq: number): number {
  const counted = lines[seq];
  if (counted !== undefined && numberOf(counted) === seq) return seq;
  let [low, high] = [0, lines.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (numberOf(lines[middle] as string) < seq) low = middle + 1;
    else high = middle;
  }
  return low;
}
