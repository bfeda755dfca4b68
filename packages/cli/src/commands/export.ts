/** `chassis export`: a session as one file that can be sent, kept, grepped and taken in again. */
import { existsSync, statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { ChassisError } from '@chassis/errors';
import { exportBatches, exportBundle, signingKey, writeBundleFile } from '@chassis/journal';
import { keyFile } from '../bundle.ts';
import { usage } from '../failure.ts';
import { whileWaiting } from '../progress.ts';
import type { Call, Ending } from '../reference/spec.ts';
import { sessionOf } from '../sessions.ts';
import { existingStore } from '../store.ts';
import { visible } from '../terminal/text.ts';
import { bytes } from '../terminal/units.ts';

interface Options {
  readonly output?: string;
  readonly force?: true;
  readonly sign?: string;
}

export async function exportSession({
  args: [text = ''],
  options,
  globals,
  out,
}: Call<Options>): Promise<Ending> {
  const sign =
    options.sign === undefined
      ? {}
      : { sign: signingKey(keyFile('--sign', resolve(globals.cwd, options.sign))) };
  const store = existingStore(globals);
  try {
    const { id } = await sessionOf(text, store);
    if (options.output === '-') {
      // The lines of the bundle are the result: each is JSON, in either mode.
      for await (const line of exportBundle(store, id, sign)) {
        out.raw(line);
        await out.drained();
      }
      return { result: { session: id } };
    }
    const path = options.output ?? `${id}.session.jsonl`;
    const file = resolve(globals.cwd, path);
    if (statSync(file, { throwIfNoEntry: false })?.isDirectory())
      throw usage(`--output ${path}: this is a folder; give the path of a file`);
    if (!existsSync(dirname(file))) throw usage(`--output ${path}: there is no folder ${dirname(file)}`);
    if (existsSync(file) && options.force !== true)
      throw new ChassisError('Conflict', `${path} is there already: give another name, or --force`);
    await whileWaiting(out, 'writing…', writeBundleFile(file, exportBatches(store, id, sign)));
    const { size } = await stat(file);
    out.line(`wrote ${visible(path)}, ${bytes(size)}`);
    return { result: { session: id, file, bytes: size } };
  } finally {
    await store.close();
  }
}
