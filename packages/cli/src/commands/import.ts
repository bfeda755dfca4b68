/**
 * `chassis import`: takes sessions into the store. A bundle keeps its id, and one that is there already is left alone; the files
 * of other tools are read by importers.
 */
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ChassisError } from '@chassis/errors';
import { chatImporter, type Importer, importSessions, type Received } from '@chassis/journal';
import { CHASSIS_VERSION } from '@chassis/runtime';
import { batchesOf, inFile } from '../bundle.ts';
import { usage } from '../failure.ts';
import { whileWaiting } from '../progress.ts';
import type { Call, Ending } from '../reference/spec.ts';
import { openStore } from '../store.ts';
import { visible } from '../terminal/text.ts';

interface Options {
  readonly with?: string;
}

export async function importSession({
  args: [path = ''],
  options,
  globals,
  out,
}: Call<Options>): Promise<Ending> {
  const lines = batchesOf(resolve(globals.cwd, path));
  const importers =
    options.with === undefined
      ? [chatImporter({ chassis: CHASSIS_VERSION, folder: globals.cwd })]
      : [await importerIn(options.with, resolve(globals.cwd, options.with))];
  const store = openStore(globals);
  try {
    const work = inFile(path, Array.fromAsync(importSessions(store, lines, importers)));
    const received = await whileWaiting(out, 'reading…', work);
    for (const one of received) {
      out.record({ type: 'imported', ...one });
      out.line(one.session);
      if (!one.fresh) out.progress(`${one.session} is here already; nothing was changed`);
    }
    const last = received.at(-1);
    if (last) out.progress(`next: chassis show ${last.session}`);
    return { result: resultOf(received) };
  } finally {
    await store.close();
  }
}

function resultOf(received: readonly Received[]): Record<string, unknown> {
  const [one] = received;
  return received.length === 1 ? { ...one } : { sessions: received.map(({ session }) => session) };
}

/** The importer that a module exports by default. Its code runs: it is named by whoever types the command. */
async function importerIn(named: string, path: string): Promise<Importer> {
  let found: Partial<Importer> | undefined;
  try {
    found = ((await import(pathToFileURL(path).href)) as { default?: Partial<Importer> }).default;
  } catch (cause) {
    throw new ChassisError(
      'InvalidParams',
      `--with ${visible(named)} cannot be loaded: ${(cause as Error).message}`,
      {
        cause,
      },
    );
  }
  if (typeof found?.accepts === 'function' && typeof found.read === 'function') return found as Importer;
  throw usage(
    `--with ${named}: its default export must be an importer, { name, accepts(line), read(lines, store) }`,
  );
}
