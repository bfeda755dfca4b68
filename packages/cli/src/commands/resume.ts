/** `chassis resume`: goes on with a turn that was cut, cancelled, or failed for a reason outside of it. */
import { Session } from '@chassis/runtime';
import { listenForInterrupts } from '../interrupt.ts';
import type { Call, Ending } from '../reference/spec.ts';
import { RunView } from '../run-view.ts';
import { scriptOverrides } from '../script-option.ts';
import { sessionOf } from '../sessions.ts';
import { maxStepsOverride } from '../settings.ts';
import { existingStore } from '../store.ts';
import { followTurn } from '../turn.ts';
import { openWorkbench, tellOtherProject, tellProblems } from '../workbench.ts';

interface Options {
  readonly approve?: readonly string[];
  readonly script?: string;
  readonly maxSteps?: string;
  readonly quiet?: true;
  readonly force?: true;
}

export async function resume({ args: [text = ''], options, globals, out }: Call<Options>): Promise<Ending> {
  out.quiet = options.quiet === true;
  // The name is looked up before any plugin starts: a wrong one costs nothing.
  const looking = existingStore(globals);
  const { id } = await sessionOf(text, looking);
  await looking.close();
  const overrides = [...maxStepsOverride(options.maxSteps), ...scriptOverrides(options.script, globals.cwd)];
  const interrupts = listenForInterrupts(out);
  const bench = await openWorkbench({
    globals,
    out,
    overrides,
    approve: options.approve,
    interrupts,
  });
  try {
    tellProblems(bench, out);
    const view = new RunView(out, bench.secrets);
    const session = await Session.open(bench.surroundings(view), id, { force: options.force === true });
    tellOtherProject(bench, session.view, out);
    return await followTurn(session, () => session.resume(), { view, interrupts, out });
  } finally {
    await bench.close();
    interrupts.end();
  }
}
