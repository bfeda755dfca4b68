/** One turn of a session from start to end: watched, cancellable, told. Shared by run, resume and fork. */
import { ExitCode } from '@chassis/errors';
import type { Session, TurnResult } from '@chassis/runtime';
import { exitOfRun } from './exit-of-run.ts';
import type { Interrupts } from './interrupt.ts';
import type { Output } from './output.ts';
import type { Ending } from './reference/spec.ts';
import type { RunView } from './run-view.ts';
import type { Workbench } from './workbench.ts';

/** @param go starts the turn */
export async function followTurn(
  session: Session,
  go: () => Promise<TurnResult>,
  {
    view,
    bench,
    interrupts,
    out,
  }: {
    readonly view: RunView;
    readonly bench: Pick<Workbench, 'registry'>;
    readonly interrupts: Interrupts;
    readonly out: Output;
  },
): Promise<Ending> {
  view.follow(session, bench.registry);
  const since = performance.now();
  const cancel = (): void => session.cancel();
  interrupts.signal.addEventListener('abort', cancel, { once: true });
  // Nobody may be reading any more; the record is completed all the same.
  out.outlivesReader = true;
  try {
    const turn = go();
    // It may have come before there was a turn to cancel.
    if (interrupts.signal.aborted) cancel();
    const result = await turn;
    view.end(result, session.view, since);
    const exit = exitOfRun(result, session.view);
    return { exit, result: { ...result, session: session.id, ok: exit === ExitCode.ok } };
  } finally {
    interrupts.signal.removeEventListener('abort', cancel);
    await session.close();
  }
}
