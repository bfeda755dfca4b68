/**
 * `chassis bisect GOOD BAD`: the first change that flips a predicate.
 *
 * Over steps: the bad run is taken up again behind one of its steps, as it was recorded to there and for real after it; the
 * first step behind which it goes wrong is the one. Over the prompt: the good run is begun with more and more blocks of the
 * bad one's prompt. Over plugins: the models and more and more plugins run as they are now, the others answer from the record of GOOD.
 *
 * Promise: each run works in a folder of its own; neither session is written to.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { diff } from '@chassis/analyze';
import { ExitCode } from '@chassis/errors';
import { newSessionId, type SessionView } from '@chassis/journal';
import { copyWorkspace, replayMixed, restoreFiles, Session, bisect as search } from '@chassis/runtime';
import { usage } from '../failure.ts';
import { listenForInterrupts } from '../interrupt.ts';
import { mark } from '../present/mark.ts';
import { shortValue } from '../present/value.ts';
import type { Call, Ending } from '../reference/spec.ts';
import { RunView } from '../run-view.ts';
import { scriptOverrides } from '../script-option.ts';
import { sessionOf } from '../sessions.ts';
import { storeFolder } from '../store.ts';
import { visible } from '../terminal/text.ts';
import { openWorkbench, type Workbench } from '../workbench.ts';

interface Options {
  readonly over?: string;
  readonly test?: string;
  readonly outcome?: true;
  readonly script?: string;
  readonly approve?: readonly string[];
}

/** One thing that may have flipped it. */
interface Change {
  readonly what: string;
  readonly step?: number;
  readonly detail?: string;
}

interface Plan {
  readonly changes: readonly Change[];
  /** Runs with the first so many changes. */
  run(changes: number): Promise<{ view: SessionView; workspace: string; session: string | null }>;
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
  if (over !== 'steps' && over !== 'prompt' && over !== 'plugins')
    throw usage(`--over ${over}: it is steps, prompt or plugins`);
  if (second === undefined && over !== 'plugins')
    throw usage(`chassis bisect ${first} BAD: name the session that went wrong, too`);
  const interrupts = listenForInterrupts(out);
  const overrides = scriptOverrides(options.script, globals.cwd);
  const bench = await openWorkbench({ globals, out, overrides, approve: options.approve, interrupts });
  const folder = storeFolder(globals);
  try {
    out.quiet = true;
    const good = await viewOf(bench, first);
    const bad = second === undefined ? good : await viewOf(bench, second);
    const plan =
      over === 'steps'
        ? overSteps(bench, folder, good, bad, out)
        : over === 'prompt'
          ? overPrompt(bench, folder, good, bad, out)
          : overPlugins(bench, good, options.approve ?? [], interrupts.signal, out);
    if (plan.changes.length === 0) throw usage(`there is no difference in ${over} to look through`);
    const found = await search(plan.changes.length, async (changes) => {
      interrupts.signal.throwIfAborted();
      const { view, workspace, session } = await plan.run(changes);
      const holds =
        options.test === undefined
          ? view.outcome === 'ok'
          : await passes(options.test, view, workspace, session, interrupts.signal);
      const last = plan.changes[changes - 1]?.what ?? 'no change';
      out.note(`${holds ? 'good' : 'bad '} with ${changes} of ${plan.changes.length}: ${visible(last)}`);
      return holds;
    });
    const change = found.first === null || found.first === 0 ? null : (plan.changes[found.first - 1] ?? null);
    for (const line of lines(found.first, change, over)) out.line(line);
    return {
      exit: change === null ? ExitCode.failed : ExitCode.ok,
      result: { over, change, first: found.first, tested: found.tested, changes: plan.changes },
    };
  } finally {
    await bench.close();
    interrupts.end();
  }
}

async function viewOf(bench: Workbench, text: string): Promise<SessionView> {
  const { id } = await sessionOf(text, bench.store);
  return (await bench.store.reader(id)).view();
}

/** Behind which step of the bad run does it go wrong? Those that both runs share are out of the question. */
function overSteps(
  bench: Workbench,
  folder: string,
  good: SessionView,
  bad: SessionView,
  out: Call['out'],
): Plan {
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
      const at = changes === 0 ? same : (steps[changes - 1]?.number ?? same);
      return at === 0 ? again(bench, folder, good, out) : behind(bench, folder, bad, at, out);
    },
  };
}

/** With which block of the bad run's prompt does the good one go wrong? */
function overPrompt(
  bench: Workbench,
  folder: string,
  good: SessionView,
  bad: SessionView,
  out: Call['out'],
): Plan {
  const [was, is] = [good, bad].map(promptOf) as [readonly string[], readonly string[]];
  const length = Math.max(was.length, is.length);
  const places = Array.from({ length }, (_, at) => at).filter((at) => was[at] !== is[at]);
  return {
    changes: places.map((at) => ({ what: `block ${at + 1} of the prompt`, detail: is[at] ?? '(left out)' })),
    async run(changes) {
      const changed = new Set(places.slice(0, changes));
      const blocks = Array.from({ length }, (_, at) => (changed.has(at) ? is[at] : was[at]));
      const value = blocks.filter((block) => block !== undefined).join('\n\n');
      const workspace = await folderOf(bench, folder, good, 0);
      const edits = [{ step: 1, path: '/input/messages/0/content', value }];
      const session = await Session.fork(bench.surroundings(new RunView(out, bench.secrets)), {
        parent: good.header.id,
        at: 1,
        edits,
        workspace,
      });
      return ended(session, workspace, () => session.resume());
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
function overPlugins(
  bench: Workbench,
  good: SessionView,
  approve: readonly string[],
  signal: AbortSignal,
  out: Call['out'],
): Plan {
  const now = new Map(bench.registry.plugins().map((plugin) => [plugin.name, plugin]));
  const used = new Map(good.steps.flatMap(({ plugin }) => (plugin === null ? [] : [[plugin.name, plugin]])));
  const changed = [...used.values()].filter(({ name, digest }) => now.get(name)?.digest !== digest);
  return {
    changes: changed.map(({ name, version, digest }) => ({
      what: `plugin ${name}`,
      detail: `${version} (${digest.slice(0, 12)}) → ${now.get(name)?.version ?? 'not there'} (${(now.get(name)?.digest ?? '').slice(0, 12)})`,
    })),
    async run(changes) {
      // A recorded model would say what it said, whatever the tools answer now.
      const live = ['model', ...changed.slice(0, changes).map(({ name }) => name)];
      const report = await replayMixed(good, bench.surroundings(new RunView(out, bench.secrets)), {
        live,
        approve,
        signal,
      });
      return { view: report.view, workspace: good.header.workspace, session: null };
    },
  };
}

async function behind(bench: Workbench, folder: string, view: SessionView, at: number, out: Call['out']) {
  const workspace = await folderOf(bench, folder, view, at);
  const session = await Session.fork(bench.surroundings(new RunView(out, bench.secrets)), {
    parent: view.header.id,
    at,
    edits: [],
    workspace,
  });
  return ended(session, workspace, () => session.resume());
}

/** The whole turn for real: nothing of either run is shared. */
async function again(bench: Workbench, folder: string, view: SessionView, out: Call['out']) {
  const words = view.turns[0]?.input ?? '';
  const workspace = await folderOf(bench, folder, view, 0);
  const session = await Session.fork(bench.surroundings(new RunView(out, bench.secrets)), {
    parent: view.header.id,
    at: 1,
    edits: [],
    message: words,
    workspace,
  });
  return ended(session, workspace, () => session.prompt(words));
}

async function ended(session: Session, workspace: string, go: () => Promise<unknown>) {
  try {
    await go();
    return { view: session.view, workspace, session: session.id };
  } finally {
    await session.close();
  }
}

async function folderOf(bench: Workbench, folder: string, view: SessionView, at: number): Promise<string> {
  const workspace = join(folder, 'workspaces', newSessionId());
  await copyWorkspace(view.header.workspace, workspace);
  await restoreFiles(view, at, bench.store, workspace);
  return workspace;
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
    ? [`${mark('failed')} it goes wrong without any of the changes: the reason is not in the ${over}`]
    : [`${mark('failed')} it goes well with all of the changes: the reason is not in the ${over}`];
}
