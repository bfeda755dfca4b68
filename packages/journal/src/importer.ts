/** Taking sessions in: bundles of our own, and through importers the files of other tools. */
import { ChassisError } from '@chassis/errors';
import { exportBundle } from './bundle.ts';
import { memoryStore } from './memory-store.ts';
import type { BundleLines, Received, Store } from './store.ts';

/** Reads another tool's sessions. */
export interface Importer {
  readonly name: string;
  /** Whether a file that begins with this line is one of its own. */
  accepts(line: string): boolean;
  /**
   * Records what the lines say, with the writers of `store`, and answers the id of each session as soon as it is complete. An
   * id that follows from what was read (a hash of it) lets a second import of the same file find the session there.
   * @throws an error with `data.line`, the number of the line that it cannot read
   */
  read(lines: AsyncIterable<string>, store: Store): AsyncIterable<string>;
}

/**
 * Takes a session in under its own id. Does nothing when the same session is there already.
 * @param lines a bundle's lines, with or without their newlines
 * @throws ChassisError InvalidParams when it is no bundle, DamagedRecord when it is damaged or incomplete (nothing is taken in
 *   then), Conflict when a different session of that id is there
 */
export function importBundle(store: Store, lines: AsyncIterable<BundleLines>): Promise<Received> {
  return store.receive(lines);
}

/**
 * Takes in what a file holds: a bundle, or sessions of another tool.
 * @param importers asked in this order when the first line is not one of a bundle
 */
export async function* importSessions(
  store: Store,
  lines: AsyncIterable<BundleLines>,
  importers: readonly Importer[],
): AsyncGenerator<Received> {
  const rest = lines[Symbol.asyncIterator]();
  let first = await rest.next();
  while (!first.done && first.value.length === 0) first = await rest.next();
  const whole = (async function* () {
    if (first.done) return;
    yield first.value;
    yield* { [Symbol.asyncIterator]: () => rest };
  })();
  const begin = first.done
    ? undefined
    : typeof first.value === 'string'
      ? first.value
      : String(first.value[0]);
  const importer = begin === undefined ? undefined : importers.find((one) => one.accepts(begin));
  if (importer === undefined) {
    yield await store.receive(whole);
    return;
  }
  const aside = memoryStore();
  for await (const session of importer.read(singly(whole), aside)) {
    // The times of its events are those of the import: a second one would be another record of the same.
    if (await isThere(store, session)) yield { session, fresh: false };
    else yield await store.receive(exportBundle(aside, session));
    await aside.remove(session, { force: true });
  }
}

async function isThere(store: Store, id: string): Promise<boolean> {
  try {
    return (await store.reader(id)).id === id;
  } catch (error) {
    if (error instanceof ChassisError && error.name === 'InvalidParams') return false;
    throw error;
  }
}

async function* singly(batches: AsyncIterable<BundleLines>): AsyncGenerator<string> {
  for await (const batch of batches) {
    if (typeof batch === 'string') yield batch;
    else for (const line of batch) yield line.toString('utf8');
  }
}
