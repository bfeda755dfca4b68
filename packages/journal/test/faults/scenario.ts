/**
 * Everything that a store does to a disk, in one short run: sessions made, written, closed, opened again, forked, taken in from
 * a bundle, removed; blobs, sealed segments, a collection. Says with `acknowledge` what a caller may rely on from then on.
 */
import { exportBundle, fileStore, importBundle, type Store, type Writer } from '../../src/index.ts';
import { header, Run } from '../build.ts';

/** Small enough that segments fill up and are sealed on the way. */
export const SEGMENT_BYTES = 2500;

/** The output of the n-th tool step: every fifth one goes to a blob. */
export function outputOf(n: number): { readonly n: number; readonly text: string } {
  return { n, text: n % 5 === 3 ? `${n} é\u2028 `.repeat(2500) : `result ${n}` };
}

/** What a caller was told: `s 12` events up to 12 of session s are safe; `made`, `there`, `gone` a session as a whole. */
export type Acknowledge = (word: 'made' | 'there' | 'gone' | 'seq', session: string, seq: number) => void;

export async function scenario(
  root: string,
  bundle: readonly string[],
  acknowledge: Acknowledge,
): Promise<void> {
  const store = fileStore({ root, segmentBytes: SEGMENT_BYTES });
  try {
    await recorded(await store.create(header('s')), 0, 6, acknowledge);
    await recorded(await store.open('s'), 6, 9, acknowledge);
    const fork = await store.fork('s', 9, header('f'));
    await recorded(fork, 3, 5, acknowledge);
    await importBundle(store, lines(bundle));
    acknowledge('there', 'imported', bundle.length);
    await recorded(await store.create(header('gone')), 0, 1, acknowledge);
    await store.remove('gone');
    acknowledge('gone', 'gone', 0);
    await store.collect();
    for await (const _ of store.list());
  } finally {
    await store.close();
  }
}

async function recorded(writer: Writer, from: number, to: number, acknowledge: Acknowledge): Promise<void> {
  acknowledge('made', writer.id, writer.view.lastSeq);
  try {
    const run = new Run(writer);
    for (let n = from; n < to; n++) {
      run.tool(outputOf(n));
      await writer.barrier();
      acknowledge('seq', writer.id, writer.view.lastSeq);
    }
  } finally {
    await writer.close();
  }
}

/** A session in a bundle, for the scenario to take in. */
export async function bundleFrom(store: Store): Promise<string[]> {
  const writer = await store.create(header('imported'));
  const run = new Run(writer);
  run.cycles(3);
  run.tool(outputOf(3));
  await writer.close();
  return Array.fromAsync(exportBundle(store, 'imported'));
}

async function* lines(bundle: readonly string[]): AsyncGenerator<string> {
  yield* bundle;
}
