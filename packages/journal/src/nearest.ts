/** "Did you mean": the known names nearest to one that is not known. */

/** At most `count` of the names that are near to `wanted`, nearest first. */
export function nearest(wanted: string, names: Iterable<string>, count = 3): string[] {
  const reach = Math.max(2, Math.floor(wanted.length / 3));
  const scored: { name: string; distance: number }[] = [];
  let seen = 0;
  for (const name of names) {
    if (++seen > 10_000) break;
    if (name.length > 200) continue;
    const near = name.startsWith(wanted) || (wanted.startsWith(name) && name !== '');
    const distance = near ? 1 : editDistance(wanted.toLowerCase(), name.toLowerCase());
    if (distance <= reach) scored.push({ name, distance });
  }
  scored.sort((a, b) => a.distance - b.distance || (a.name < b.name ? -1 : 1));
  return scored.slice(0, count).map((entry) => entry.name);
}

/** Levenshtein's distance, row by row. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
