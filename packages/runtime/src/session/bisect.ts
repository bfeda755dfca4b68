/** The first of several changes that flips a predicate, in as few runs as possible. */

export interface Bisection {
  /** Number of changes, from the first, with which the predicate first fails; null when it never does, 0 when it fails without any. */
  readonly first: number | null;
  /** Each run in its order: with how many changes, and whether the predicate held. */
  readonly tested: readonly { readonly changes: number; readonly good: boolean }[];
}

/**
 * Both ends are tried first, so that a predicate which never fails, or fails already, is not searched for.
 * @param count number of changes
 * @param isGood runs with the first so many changes
 */
export async function bisect(
  count: number,
  isGood: (changes: number) => Promise<boolean>,
): Promise<Bisection> {
  const tested: { changes: number; good: boolean }[] = [];
  const holds = async (changes: number): Promise<boolean> => {
    const good = await isGood(changes);
    tested.push({ changes, good });
    return good;
  };
  if (!(await holds(0))) return { first: 0, tested };
  if (count === 0 || (await holds(count))) return { first: null, tested };
  let [good, bad] = [0, count];
  while (bad - good > 1) {
    const middle = (good + bad) >> 1;
    if (await holds(middle)) good = middle;
    else bad = middle;
  }
  return { first: bad, tested };
}
