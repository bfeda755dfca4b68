/**
 * The smallest set of things with which a check fails, by leaving out halves, then quarters, and so on (Zeller's ddmin).
 *
 * Promise: what comes back fails, and leaving out any single one of it no longer does. The check is asked about each set once.
 */
export async function smallestFailing<T>(
  all: readonly T[],
  fails: (set: readonly T[]) => Promise<boolean>,
): Promise<readonly T[]> {
  const known = new Map<string, Promise<boolean>>();
  const ask = (set: readonly T[]): Promise<boolean> => {
    const key = all.map((one) => (set.includes(one) ? '1' : '0')).join('');
    const answer = known.get(key) ?? fails(set);
    known.set(key, answer);
    return answer;
  };
  let set = all;
  for (let parts = 2; set.length > 1; ) {
    const size = Math.ceil(set.length / parts);
    const chunks = Array.from({ length: Math.ceil(set.length / size) }, (_, i) =>
      set.slice(i * size, (i + 1) * size),
    );
    const rests = chunks.map((chunk) => set.filter((one) => !chunk.includes(one)));
    // One part that fails by itself is the quicker way down; with two parts the rests are the parts.
    const alone = await firstThat(chunks, ask);
    const without = alone === undefined && chunks.length > 2 ? await firstThat(rests, ask) : undefined;
    if (alone !== undefined) {
      set = alone;
      parts = 2;
    } else if (without !== undefined) {
      set = without;
      parts = Math.max(parts - 1, 2);
    } else if (size === 1) return set;
    else parts = Math.min(parts * 2, set.length);
  }
  return set;
}

async function firstThat<T>(
  sets: readonly (readonly T[])[],
  fails: (set: readonly T[]) => Promise<boolean>,
): Promise<readonly T[] | undefined> {
  for (const set of sets) if (await fails(set)) return set;
  return undefined;
}
