/**
 * `chassis bisect GOOD BAD`: the first change that flips a predicate.
 *
 * Over steps: the bad run is taken up again behind one of its steps, as it was recorded to there and for real after it; the
 * first step behind which it goes wrong is the one. Over the prompt: the good run is begun with more and more blocks of the
 * bad one's prompt. Over plugins: the models and more and more plugins run as they are now, the others answer from the record of GOOD.
 * Over versions: the models and one plugin run, in one version of it after another.
 *
 * Promise: each run works in a folder of its own; neither session is written to; trials are removed when it is done.
 */
import { spawn } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { ExitCode } from '@chassis/errors';
import type { SessionView } from '@chassis/journal';
import { bisect as search } from '@chassis/runtime';
import { usage } from '../failure.ts';
import { listenForInterrupts } from '../interrupt.ts';
import { mark } from '../present/mark.ts';
import type { Call, Ending } from '../reference/spec.ts';
import { modelsOf, scriptAgain, scriptOverrides } from '../script-option.ts';
import { sessionOf } from '../sessions.ts';
import { existingStore } from '../store.ts';
import { visible } from '../terminal/text.ts';
import { openWorkbench } from '../workbench.ts';
import { type Bench, type Change, overPlugins, overPrompt, overSteps, type Plan } from './bisect-plans.ts';
import { overVersions, type Versions } from './bisect-versions.ts';

const ways = ['steps', 'prompt', 'plugins', 'versions'] as const;

interface Options extends Versions {
  readonly over?: string;
  readonly test?: string;
  readonly outcome?: true;
  readonly script?: string;
  readonly approve?: readonly string[];
  readonly keep?: true;
}

export async function bisect({
  args: [first = '', second],
  options,
  globals,
  out,
}: Call<Options>): Promise<Ending> {
  if ((options.test === undefined) === (options.outcome === undefined))
    throw usage('by what? --test COMMAND (exit 0 is good) or --outcome (a run that ends as ok is good)');
  const over = options.over ?? 'steps';
  if (!isOneOf(over, ways)) throw usage(`--over ${over}: it is one of ${ways.join(', ')}`);
  if (second === undefined && (over === 'steps' || over === 'prompt'))
    throw usage(`chassis bisect ${first} BAD: name the session that went wrong, too`);
  const [good, bad] = await viewsOf([first, second ?? first], globals);
  if (options.outcome === true && second !== undefined) demandOrder(good, bad);
  const script = scriptAgain(options.script, good.header, modelsOf(good), { cwd: globals.cwd, out });
  const overrides = scriptOverrides(script, globals.cwd);
  const interrupts = listenForInterrupts(out);
  const { approve = [] } = options;
  const opened = { globals, out, overrides, approve, interrupts };
  const bench = await openWorkbench(opened);
  const at: Bench = { bench, globals, out, approve, signal: interrupts.signal, made: [] };
  try {
    out.quiet = true;
    const plan =
      over === 'steps'
        ? overSteps(at, good, bad)
        : over === 'prompt'
          ? overPrompt(at, good, bad)
          : over === 'plugins'
            ? overPlugins(at, good)
            : await overVersions(at, good, options, opened);
    try {
      return await searched(plan, over, options.test, options.keep === true, at);
    } finally {
      await plan.close?.();
      if (options.keep !== true) await removeTrials(at);
    }
  } finally {
    await bench.close();
    interrupts.end();
  }
}

async function searched(
  plan: Plan,
  over: string,
  test: string | undefined,
  keep: boolean,
  { out, signal, made }: Bench,
): Promise<Ending> {
  const { changes } = plan;
  if (changes.length === 0) throw usage(`there is no difference in ${over} to look through`);
  const found = await search(changes.length, async (first) => {
    signal.throwIfAborted();
    const { view, workspace, session } = await plan.run(first);
    const holds =
      test === undefined ? view.outcome === 'ok' : await passes(test, view, workspace, session, signal);
    const last = changes[first - 1]?.what ?? 'no change';
    out.note(`${holds ? 'good' : 'bad '} with ${first} of ${changes.length}: ${visible(last)}`);
    return holds;
  });
  const change = changes[(found.first ?? 0) - 1] ?? null;
  for (const line of lines(found.first, change, over)) out.line(line);
  return {
    exit: change === null ? ExitCode.failed : ExitCode.ok,
    result: {
      over,
      change,
      first: found.first,
      tested: found.tested,
      changes,
      ...(keep ? { trials: made } : {}),
    },
  };
}

/** @throws InvalidParams when the runs stand the other way round, or both ended the same way */
function demandOrder(good: SessionView, bad: SessionView): void {
  const [first, second] = [good, bad].map(({ header: { id }, outcome }) => ({ id, outcome })) as [
    { id: string; outcome: string },
    { id: string; outcome: string },
  ];
  if (first.outcome !== 'ok')
    throw usage(
      `the good run comes first, and ${first.id} ended as ${first.outcome}${second.outcome === 'ok' ? `: chassis bisect ${second.id} ${first.id} --outcome` : '; name one that ended as ok'}`,
    );
  if (second.outcome === 'ok')
    throw usage(
      `${second.id} ended as ok, so by its outcome nothing is wrong with it; --test COMMAND can tell what is`,
    );
}

/** Trials are no work of anybody's: they would stand in the listing as the latest sessions, and as failed ones. */
async function removeTrials({ made, bench: { store } }: Bench): Promise<void> {
  for (const { session, workspace } of made.splice(0)) {
    await store.remove(session, { force: true });
    await rm(workspace, { recursive: true, force: true });
  }
}

/** Looked up before any plugin starts: a wrong name costs nothing. */
async function viewsOf(
  [first, second]: readonly [string, string],
  globals: Call['globals'],
): Promise<readonly [SessionView, SessionView]> {
  const store = existingStore(globals);
  const viewOf = async (text: string) =>
    (await store.reader((await sessionOf(text, store)).id)).view(undefined, { whole: true });
  try {
    return [await viewOf(first), await viewOf(second)];
  } finally {
    await store.close();
  }
}

function isOneOf<T extends string>(text: string, known: readonly T[]): text is T {
  return known.includes(text as T);
}

/** The command in the run's folder, with the session and its answer in the environment. */
function passes(
  command: string,
  view: SessionView,
  cwd: string,
  session: string | null,
  signal: AbortSignal,
): Promise<boolean> {
  const last = view.turns.at(-1);
  return new Promise((resolve, reject) => {
    const child = spawn(command, {
      cwd,
      shell: true,
      stdio: ['ignore', 2, 2],
      signal,
      env: {
        ...process.env,
        CHASSIS_SESSION: session ?? '',
        CHASSIS_OUTCOME: view.outcome,
        CHASSIS_ANSWER: last?.answer ?? '',
      },
    });
    child.on('error', reject);
    child.on('close', (code) => resolve(code === 0));
  });
}

function lines(first: number | null, change: Change | null, over: string): string[] {
  if (change !== null)
    return [
      `${mark('ok')} the first change that flips it: ${visible(change.what)}`,
      ...(change.detail === undefined ? [] : [`  ${visible(change.detail)}`]),
    ];
  return first === 0
    ? [
        `${mark('failed')} it goes wrong without any of the changes: the reason is not in the ${over}`,
        ...(over === 'steps' ? ['  (is the good run named first? chassis bisect GOOD BAD)'] : []),
      ]
    : [`${mark('failed')} it goes well with all of the changes: the reason is not in the ${over}`];
}
