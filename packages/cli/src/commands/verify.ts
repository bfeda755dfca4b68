/** `chassis verify`: whether a record is whole and unchanged. */

import { resolve } from 'node:path';
import { ExitCode } from '@chassis/errors';
import type { Verification } from '@chassis/journal';
import { isBundlePath } from '../address.ts';
import { verifyBundleFile } from '../bundle.ts';
import { usage } from '../failure.ts';
import { mark } from '../present/mark.ts';
import { problemLine } from '../present/problem.ts';
import { whileWaiting } from '../progress.ts';
import type { Call, Ending, Globals } from '../reference/spec.ts';
import { addressOf } from '../sessions.ts';
import { existingStore } from '../store.ts';
import { visible } from '../terminal/text.ts';

export async function verify({
  args: [text = ''],
  options,
  globals,
  out,
}: Call<{ readonly key?: string }>): Promise<Ending> {
  const found = await whileWaiting(out, 'reading the log…', verification(text, options.key, globals));
  if (found.ok) {
    out.line(
      `${mark('ok')} ${visible(found.session)} is whole: ${found.events} events, head ${found.head_hash}`,
    );
    if (found.signature) {
      const { key, trusted } = found.signature;
      const whose = trusted === true ? 'the key given' : 'not compared with a key: give --key FILE';
      out.line(`  signed with ${visible(key)} (${whose})`);
    }
    for (const loss of found.losses ?? []) out.line(`  lost, on record: ${problemLine(loss)}`);
  } else {
    out.line(
      `${mark('failed')} ${visible(found.session === '' ? text : found.session)}: ${found.problems.length} problem${found.problems.length === 1 ? '' : 's'} in ${found.events} events`,
    );
    for (const problem of found.problems) out.line(`  ${problemLine(problem)}`);
    if (!isBundlePath(text)) out.progress(`next: chassis repair ${visible(found.session)}`);
  }
  return { exit: found.ok ? ExitCode.ok : ExitCode.failed, result: found };
}

/** Straight from the files: a record that is too damaged to be opened is exactly the one to look at. */
async function verification(text: string, key: string | undefined, globals: Globals): Promise<Verification> {
  const { session } = addressOf(text, globals.cwd);
  if (isBundlePath(session))
    return verifyBundleFile(
      resolve(globals.cwd, session),
      key === undefined ? undefined : resolve(globals.cwd, key),
    );
  if (key !== undefined) throw usage('--key: only a bundle is signed; give the path of one');
  const store = existingStore(globals);
  try {
    return await store.verify(await store.find(session));
  } finally {
    await store.close();
  }
}
