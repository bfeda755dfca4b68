/** `chassis run`: a task for an agent, in a new session or as the next turn of one. */
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { CHASSIS_VERSION, type Project, Session, type TurnModel } from '@chassis/runtime';
import { usage } from '../failure.ts';
import { listenForInterrupts } from '../interrupt.ts';
import { demandAgent, demandModel, modelOf } from '../models.ts';
import type { Output } from '../output.ts';
import type { Call, Ending, Globals } from '../reference/spec.ts';
import { RunView } from '../run-view.ts';
import { scriptAgain, scriptFile, scriptOverrides } from '../script-option.ts';
import { sessionOf } from '../sessions.ts';
import { maxStepsOverride } from '../settings.ts';
import { existingStore } from '../store.ts';
import { followTurn } from '../turn.ts';
import { openWorkbench, tellOtherProject, tellProblems, type Workbench } from '../workbench.ts';

interface Options {
  readonly session?: string;
  readonly model?: string;
  readonly title?: string;
  readonly agent?: string;
  readonly script?: string;
  readonly workspace?: string;
  readonly approve?: readonly string[];
  readonly maxSteps?: string;
  readonly quiet?: true;
  readonly watch?: true;
}

export async function run({ args, options, globals, out }: Call<Options>): Promise<Ending> {
  out.quiet = options.quiet === true;
  refuseTogether(options);
  const task = await taskOf(args);
  const overrides = [
    ...(await workspaceOverride(options.workspace, globals.cwd)),
    ...maxStepsOverride(options.maxSteps),
    ...scriptOverrides(await scriptOf(options, globals, out), globals.cwd),
  ];
  const interrupts = listenForInterrupts(out);
  const bench = await openWorkbench({
    globals,
    out,
    overrides,
    approve: options.approve,
    interrupts,
    reachable: { as: 'run', watch: options.watch === true },
  });
  try {
    const view = new RunView(out, bench.secrets);
    // With a script and no other word the model is the one that plays it.
    const named = options.model ?? (options.script === undefined ? undefined : 'scripted');
    if (options.session === undefined) {
      const model = modelOf(named, bench.project);
      const agent = options.agent ?? bench.project.config.agent.use;
      // What ends the run is told once, as its reason; what it goes on without, before it begins.
      demandAgent(agent, bench.registry);
      demandModel(model, bench.registry);
      tellProblems(bench, out);
      const session = await newSession(bench, view, model, agent, task, {
        ...options,
        ...(options.script === undefined ? {} : { script: resolve(globals.cwd, options.script) }),
      });
      return await followTurn(session, () => session.prompt(task), { view, bench, interrupts, out });
    }
    const { id } = await sessionOf(options.session, bench.store);
    const model = named === undefined ? undefined : modelOf(named, bench.project);
    if (model !== undefined) demandModel(model, bench.registry);
    tellProblems(bench, out);
    const session = await Session.open(bench.surroundings(view), id);
    tellOtherProject(bench, session.view, out);
    return await followTurn(session, () => session.prompt(task, model), { view, bench, interrupts, out });
  } finally {
    await bench.close();
    interrupts.end();
  }
}

/** The script that is played: the one given, else the one that the session to go on with was started with. */
async function scriptOf(
  { session, script, model }: Options,
  globals: Globals,
  out: Output,
): Promise<string | undefined> {
  if (session === undefined) return scriptFile(script, globals.cwd);
  // Looked up before any plugin starts: a wrong name costs nothing.
  const store = existingStore(globals);
  try {
    const { header } = await store.reader((await sessionOf(session, store)).id);
    const asked = model === undefined ? header.model : { name: '', fallbacks: model.split(',') };
    return scriptAgain(script, header, [asked], { cwd: globals.cwd, out });
  } finally {
    await store.close();
  }
}

async function newSession(
  bench: Workbench,
  view: RunView,
  model: TurnModel,
  agent: string,
  task: string,
  options: Options,
): Promise<Session> {
  const { project, settings } = bench;
  await demandWorkspace(project);
  return Session.create(bench.surroundings(view), {
    title: options.title ?? titleOf(task),
    workspace: project.config.workspace,
    project: project.root,
    chassis: CHASSIS_VERSION,
    agent,
    model,
    settings: { ...settings, ...(options.script === undefined ? {} : { script: options.script }) },
  });
}

/** @throws InvalidParams when the folder that the tools work in is not there, with the place that names it */
async function demandWorkspace({ config, origin }: Pick<Project, 'config' | 'origin'>): Promise<void> {
  if ((await stat(config.workspace).catch(() => undefined))?.isDirectory()) return;
  const at = origin('workspace')?.text;
  throw usage(
    `${at === undefined ? 'workspace' : at}: there is no folder ${config.workspace} for the tools to work in`,
  );
}

/** A session keeps what it began with: an option that would be ignored is refused. */
function refuseTogether(options: Options): void {
  if (options.session === undefined) return;
  const fixed = ['title', 'agent', 'workspace'] as const;
  const given = fixed.find((name) => options[name] !== undefined);
  if (given !== undefined)
    throw usage(
      `--${given} cannot be given with --session: a session keeps what it began with; start a new one, or fork it`,
    );
}

/**
 * The words given; `-` among them stands for what is on stdin. Without words stdin is the task. With words and without `-`
 * stdin is left alone: whoever started this may keep it open for ever.
 */
async function taskOf(args: readonly string[]): Promise<string> {
  if (args.length === 0 && process.stdin.isTTY)
    throw usage('there is no task: chassis run "what to do", or pipe it in');
  const words = args.length === 0 ? ['-'] : args;
  const parts: string[] = [];
  for (const [at, word] of words.entries()) {
    if (word === '-') parts.push((await textOf(process.stdin)).trim());
    else if (at > 0 && words[at - 1] !== '-') parts.push(`${parts.pop()} ${word}`);
    else parts.push(word);
  }
  const task = parts.filter((part) => part.trim() !== '').join('\n\n');
  if (task === '') throw usage('the task is empty: chassis run "what to do", or pipe it in');
  return task;
}

async function workspaceOverride(workspace: string | undefined, cwd: string): Promise<string[]> {
  if (workspace === undefined) return [];
  const folder = resolve(cwd, workspace);
  if (!(await stat(folder).catch(() => undefined))?.isDirectory())
    throw usage(`--workspace ${workspace}: there is no such folder`);
  return [`workspace=${JSON.stringify(folder)}`];
}

/** The first line of the task, short. */
function titleOf(task: string): string {
  const line = task.slice(0, 1000).split('\n')[0]?.trim() ?? '';
  const letters = [...new Intl.Segmenter(undefined, { granularity: 'grapheme' }).segment(line)];
  return letters.length <= 60
    ? line
    : `${letters
        .slice(0, 59)
        .map(({ segment }) => segment)
        .join('')}…`;
}
