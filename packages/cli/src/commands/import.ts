/** `chassis import`: takes a bundle into the store, under its own id; one that is there already is left alone. */
import { resolve } from 'node:path';
import { importBundle } from '@chassis/journal';
import { linesOf } from '../bundle.ts';
import { whileWaiting } from '../progress.ts';
import type { Call, Ending } from '../reference/spec.ts';
import { openStore } from '../store.ts';

export async function importSession({ args: [path = ''], globals, out }: Call): Promise<Ending> {
  const lines = linesOf(resolve(globals.cwd, path));
  const store = openStore(globals);
  try {
    const id = await whileWaiting(out, 'reading…', importBundle(store, lines));
    out.line(id);
    out.progress(`next: chassis show ${id}`);
    return { result: { session: id } };
  } finally {
    await store.close();
  }
}
