/** `chassis test add`: a session becomes a test, as files that a person can review. */
import { existsSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { ChassisError } from '@chassis/errors';
import { draftSpec } from '@chassis/testkit';
import type { Call, Ending } from '../reference/spec.ts';
import { openAddress } from '../sessions.ts';
import { shellWord } from '../terminal/shell.ts';
import { visible } from '../terminal/text.ts';
import { fileName, testFolder, writeRecording, writeTest } from '../test-files.ts';

interface Options {
  readonly name?: string;
  readonly dir?: string;
  readonly force?: true;
}

export async function testAdd({ args: [text = ''], options, globals, out }: Call<Options>): Promise<Ending> {
  const opened = await openAddress(text, globals);
  const { store, reader } = opened;
  try {
    const view = await reader.view();
    const { id } = view.header;
    if (view.outcome === 'running' || view.outcome === 'interrupted')
      throw new ChassisError('Conflict', `session ${id} has not ended: chassis resume ${id}, then add it`);
    const name = options.name ?? view.header.title;
    const base = join(resolve(globals.cwd, options.dir ?? testFolder), fileName(name));
    const file = `${base}.test.yaml`;
    const recording = `${base}.session.jsonl`;
    const taken = [file, recording].find((path) => existsSync(path));
    if (taken !== undefined && options.force !== true)
      throw new ChassisError(
        'Conflict',
        `${relative(globals.cwd, taken)} is there already: give another --name, or --force`,
      );
    await writeRecording(store, id, recording);
    await writeTest(file, draftSpec(view, name, `${fileName(name)}.session.jsonl`));
    out.line(`wrote ${visible(relative(globals.cwd, file))}`);
    out.line(`      ${visible(relative(globals.cwd, recording))}`);
    out.note('look at what is expected there, and loosen or tighten it');
    out.note(`next: chassis test run ${shellWord(relative(globals.cwd, file))}`);
    return { result: { session: id, file, recording } };
  } finally {
    await opened.close();
  }
}
