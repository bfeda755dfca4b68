/** What a bisection looks through: the steps of the bad run, the blocks of its prompt, the plugins as they are now. */
import { diff } from '@chassis/analyze';
import { ChassisError } from '@chassis/errors';
import type { SessionView } from '@chassis/journal';
import { type ForkRequest, replayMixed, Session } from '@chassis/runtime';
import { usage } from '../failure.ts';
import { ownWorkspace } from '../own-workspace.ts';
import { shortValue } from '../present/value.ts';
import type { Call } from '../reference/spec.ts';
import { RunView } from '../run-view.ts';
import type { Workbench } from '../workbench.ts';

/** One thing that may have flipped it. */
export interface Change {
  readonly what: string;
  readonly step?: number;
  readonly detail?: string;
}

export interface Plan {
  readonly changes: readonly Change[];
  /** Runs with the first so many changes. */
  run(changes: number): Promise<{ view: SessionView; workspace: string; session: string | null }>;
  /** Removes what was made for it. */
  close?(): Promise<void>;
}

/** What the runs of a bisection are made with. */
export interface Bench {
  readonly bench: Workbench;
  readonly globals: Call['globals'];
  readonly out: Call['out'];
  readonly approve: readonly string[];
  readonly signal: AbortSignal;
  /** Sessions and folders that the trials made. */
  readonly made: { readonly session: string; readonly workspace: string }[];
}

/** Behind which step of the bad run does it go wrong? Those that both runs share are out of the question. */
export function overSteps(at: Bench, good: SessionView, bad: SessionView): Plan {
  const { same } = diff(good, bad);
  const finished = bad.steps.filter((step) => step.number > same && step.seq.finished !== undefined);
  // Behind the very last step nothing is left to run.
  const steps = finished.length > 1 ? finished.slice(0, -1) : finished;
  return {
    changes: steps.map((step) => ({
      what: `step ${step.number} (${step.kind} ${step.name})`,
      step: step.number,
      detail: shortValue(step.output ?? step.error?.message ?? '', 200),
    })),
    run: (changes) => {
      const step = changes === 0 ? same : (steps[changes - 1]?.number ?? same);
      return step === 0 ? again(at, good) : behind(at, bad, step);
    },
  };
}

/** With which block of the bad run's prompt does the good one go wrong? */
export function overPrompt(at: Bench, good: SessionView, bad: SessionView): Plan {
  const [was, is] = [good, bad].map(promptOf) as [readonly string[], readonly string[]];
  const length = Math.max(was.length, is.length);
  const places = Array.from({ length }, (_, n) => n).filter((n) => was[n] !== is[n]);
  return {
    changes: places.map((n) => ({ what: `block ${n + 1} of the prompt`, detail: is[n] ?? '(left out)' })),
    async run(changes) {
      const changed = new Set(places.slice(0, changes));
      const blocks = Array.from({ length }, (_, n) => (changed.has(n) ? is[n] : was[n]));
      const value = blocks.filter((block) => block !== undefined).join('\n\n');
      return forked(at, good, 0, { at: 1, edits: [{ step: 1, path: '/input/messages/0/content', value }] });
    },
  };
}

function promptOf(view: SessionView): readonly string[] {
  const [first] = view.steps[0]?.kind === 'model' ? view.request(1).messages : [];
  if (first?.role !== 'system')
    throw usage(`session ${view.header.id} does not begin with a request that has a system prompt`);
  return first.content.split(/\n{2,}/);
}

/** Which plugin, as it is now, makes the good run go wrong? */
export function overPlugins(at: Bench, good: SessionView): Plan {
  const { bench } = at;
  const now = new Map(bench.registry.plugins().map((plugin) => [plugin.name, plugin]));
  const used = new Map(good.steps.flatMap(({ plugin }) => (plugin === null ? [] : [[plugin.name, plugin]])));
  const changed = [...used.values()].filter(({ name, digest }) => now.get(name)?.digest !== digest);
  return {
    changes: changed.map(({ name, version, digest }) => ({
      what: `plugin ${name}`,
      detail: `${version} (${digest.slice(0, 12)}) → ${now.get(name)?.version ?? 'not there'} (${(now.get(name)?.digest ?? '').slice(0, 12)})`,
    })),
    run: (changes) =>
      withLive(
        at,
        good,
        changed.slice(0, changes).map(({ name }) => name),
      ),
  };
}

/**
 * The models and some plugins for real: a recorded model would say what it said, whatever the tools answer now.
 *
 * @param dry whether the tools of all other plugins run, too, as far as they change nothing
 * @throws Diverged when the run asks for what the record does not hold: it is neither good nor bad
 */
export async function withLive(
  { bench, out, approve, signal }: Bench,
  good: SessionView,
  plugins: readonly string[],
  dry = false,
) {
  const live = ['model', ...plugins];
  const around = bench.surroundings(new RunView(out, bench.secrets));
  const report = await replayMixed(good, around, { live, dry: dry ? ['tools'] : [], approve, signal });
  const { divergence } = report;
  if (divergence !== undefined)
    throw new ChassisError(
      'Diverged',
      `with ${plugins.join(', ') || 'the models'} as of now the run cannot be judged: ${divergence.message}`,
      { data: divergence },
    );
  return { view: report.view, workspace: good.header.workspace, session: null };
}

function behind(at: Bench, view: SessionView, step: number) {
  return forked(at, view, step, { at: step, edits: [] });
}

/** The whole turn for real: nothing of either run is shared. */
function again(at: Bench, view: SessionView) {
  return forked(at, view, 0, { at: 1, edits: [], message: view.turns[0]?.input ?? '' });
}

/** A fork that runs in a folder of its own, with the files as they were behind a step. */
async function forked(
  { bench, globals, out, made }: Bench,
  view: SessionView,
  filesOf: number,
  request: Pick<ForkRequest, 'at' | 'edits' | 'message'>,
) {
  const { folder: workspace } = await ownWorkspace(view, filesOf, bench.store, globals);
  const around = bench.surroundings(new RunView(out, bench.secrets));
  const title = `trial of a bisection: ${view.header.title}`;
  const session = await Session.fork(around, { ...request, parent: view.header.id, workspace, title });
  made.push({ session: session.id, workspace });
  try {
    await (request.message === undefined ? session.resume() : session.prompt(request.message));
    return { view: session.view, workspace, session: session.id };
  } finally {
    await session.close();
  }
}
