/** Taking sessions in: bundles of our own, and through importers the files of other tools. */
import { exportBundle } from './bundle.ts';
import { memoryStore } from './memory-store.ts';
import type { Store } from './store.ts';

/** Reads another tool's sessions. */
export interface Importer {
  readonly name: string;
  /** Whether a file that begins with this line is one of its own. */
  accepts(line: string): boolean;
  /** Records what the lines say: `store` takes one session, which is then taken in like any other. Answers its id. */
  read(lines: AsyncIterable<string>, store: Store): Promise<string>;
}

/**
 * Takes a session in under its own id. Does nothing when the same session is there already.
 * @param lines a bundle's lines, with or without their newlines
 * @param importers asked in this order when the first line is not one of ours
 * @returns the session's id
 * @throws ChassisError InvalidParams when the bundle is damaged or incomplete (nothing is taken in then), Conflict when a
 *   different session of that id is there
 */
export async function importBundle(
  store: Store,
  lines: AsyncIterable<string>,
  importers: readonly Importer[] = [],
): Promise<string> {
  const rest = lines[Symbol.asyncIterator]();
  const first = await rest.next();
  const whole = (async function* () {
    if (first.done) return;
    yield first.value;
    yield* { [Symbol.asyncIterator]: () => rest };
  })();
  const importer = first.done ? undefined : importers.find((one) => one.accepts(first.value));
  if (importer === undefined) return store.receive(whole);
  const aside = memoryStore();
  return store.receive(exportBundle(aside, await importer.read(whole, aside)));
}
