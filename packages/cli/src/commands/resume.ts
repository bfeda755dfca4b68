/** `chassis resume`: goes on with a turn that was cut, cancelled, or failed for a reason outside of it. */
import { ErrorCode, toChassisError } from '@chassis/errors';
import { Session, type TurnResult } from '@chassis/runtime';
import { usage } from '../failure.ts';
import { listenForInterrupts } from '../interrupt.ts';
import type { Output } from '../output.ts';
import { repair } from '../present/next-commands.ts';
import type { Call, Ending, Globals } from '../reference/spec.ts';
import { RunView } from '../run-view.ts';
import { scriptAgain, scriptOverrides } from '../script-option.ts';
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
  readonly watch?: true;
  readonly force?: true;
}

export async function resume({ args: [text = ''], options, globals, out }: Call<Options>): Promise<Ending> {
  out.quiet = options.quiet === true;
  const { id, script } = await lookedUp(text, options.script, globals, out);
  const overrides = [...maxStepsOverride(options.maxSteps), ...scriptOverrides(script, globals.cwd)];
  const interrupts = listenForInterrupts(out);
  const bench = await openWorkbench({
    globals,
    out,
    overrides,
    approve: options.approve,
    interrupts,
    reachable: { as: 'resume', watch: options.watch === true },
  });
  try {
    tellProblems(bench, out);
    const view = new RunView(out, bench.secrets);
    const session = await Session.open(bench.surroundings(view), id, { force: options.force === true });
    tellOtherProject(bench, session.view, out);
    return await followTurn(session, () => takenUp(session), { view, bench, interrupts, out });
  } finally {
    await bench.close();
    interrupts.end();
  }
}

/** The session and the script that it plays; before any plugin starts, so that a wrong name costs nothing. */
async function lookedUp(
  text: string,
  given: string | undefined,
  globals: Globals,
  out: Output,
): Promise<{ readonly id: string; readonly script: string | undefined }> {
  const store = existingStore(globals);
  try {
    const { id } = await sessionOf(text, store);
    const reader = await store.reader(id);
    const { turns } = await reader.view();
    const asked = turns.at(-1)?.model ?? reader.header.model;
    return { id, script: scriptAgain(given, reader.header, [asked], { cwd: globals.cwd, out }) };
  } finally {
    await store.close();
  }
}

/** A run that failed for a reason of its own cannot be resumed: the refusal names what can be done with it. */
async function takenUp(session: Session): Promise<TurnResult> {
  try {
    return await session.resume();
  } catch (thrown) {
    const error = toChassisError(thrown);
    const way = repair(session.view, session.id);
    const failed = session.view.turns.at(-1)?.outcome === 'failed';
    if (!failed || way === undefined || error.code !== ErrorCode.InvalidParams) throw thrown;
    throw usage(
      `session ${session.id} failed for a reason that repeating does not change: chassis why ${session.id}; ${way.after}: ${way.command}`,
    );
  }
}
