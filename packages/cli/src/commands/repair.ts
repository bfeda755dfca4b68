/** `chassis repair`: what can be brought back comes back, what cannot is put on record; tried on a copy first. */
import { resolve } from 'node:path';
import { ExitCode } from '@chassis/errors';
import type { Repair } from '@chassis/journal';
import { linesOf } from '../bundle.ts';
import type { Output } from '../output.ts';
import { mark } from '../present/mark.ts';
import { problemLine } from '../present/problem.ts';
import { whileWaiting } from '../progress.ts';
import type { Call, Ending } from '../reference/spec.ts';
import { sessionOf } from '../sessions.ts';
import { existingStore } from '../store.ts';
import { shellWord } from '../terminal/shell.ts';
import { visible } from '../terminal/text.ts';

interface Options {
  readonly from?: string;
  readonly apply?: true;
}

export async function repair({ args: [text = ''], options, globals, out }: Call<Options>): Promise<Ending> {
  const from = options.from === undefined ? {} : { from: linesOf(resolve(globals.cwd, options.from)) };
  const store = existingStore(globals);
  try {
    const { id } = await sessionOf(text, store);
    const apply = options.apply === true;
    const found = await whileWaiting(out, 'reading the log…', store.repair(id, { apply, ...from }));
    print(found, options, out);
    const left = found.actions.length > 0 && !found.applied;
    return { exit: left ? ExitCode.failed : ExitCode.ok, result: found };
  } finally {
    await store.close();
  }
}

function print({ session, problems, actions, applied, after }: Repair, { from }: Options, out: Output): void {
  const id = visible(session);
  if (actions.length === 0) {
    out.line(`${mark('ok')} ${id} needs no repair: ${after.events} events, head ${after.head_hash}`);
    return;
  }
  const count = problems.length;
  // What a bundle has more than the record is no problem of the record.
  out.line(
    count === 0
      ? `${mark('ok')} ${id} is whole; the bundle has more of it`
      : `${mark('failed')} ${id}: ${count} problem${count === 1 ? '' : 's'}`,
  );
  for (const problem of problems) out.line(`  ${problemLine(problem)}`);
  out.line(applied ? 'done' : 'what a repair would do, tried on a copy');
  for (const action of actions) out.line(`  ${problemLine(action)}`);
  if (applied) {
    out.line(`${mark('ok')} ${id} is whole from here on: ${after.events} events, head ${after.head_hash}`);
    out.progress(`what was replaced is kept in sessions/${id}/quarantine`);
  } else {
    const source = from === undefined ? '' : ` --from ${shellWord(from)}`;
    out.progress(`next: chassis repair ${id}${source} --apply`);
  }
}
