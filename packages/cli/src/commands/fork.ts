/** `chassis fork`: a new session that shares the past up to a step, with an edit of what was answered or asked there. */
import { ExitCode } from '@chassis/errors';
import { type Edit, Secrets, type SessionHeader, setPointer } from '@chassis/journal';
import { type ForkRequest, type Registry, Session } from '@chassis/runtime';
import type { Json } from '@chassis/types';
import { editOf } from '../edits.ts';
import { usage } from '../failure.ts';
import { type ForkOptions, forkScript, modelFor, type Planned, separated } from '../fork-plan.ts';
import { listenForInterrupts } from '../interrupt.ts';
import { demandModel } from '../models.ts';
import { forkedAt } from '../present/fork-place.ts';
import { projectOf } from '../project.ts';
import type { Call, Ending } from '../reference/spec.ts';
import { RunView } from '../run-view.ts';
import { scriptOverrides } from '../script-option.ts';
import { sessionOf, stepNumber } from '../sessions.ts';
import { existingStore, openStore } from '../store.ts';
import { shellWord } from '../terminal/shell.ts';
import { visible } from '../terminal/text.ts';
import { followTurn } from '../turn.ts';
import { openWorkbench, tellProblems } from '../workbench.ts';
import { stepNamed } from './show.ts';

export async function fork(call: Call<ForkOptions>): Promise<Ending> {
  const { options } = call;
  call.out.quiet = options.quiet === true;
  const planned = await requestOf(call);
  await warnOfSchema(planned, call);
  if (options.n !== undefined || options.verify !== undefined || (options.model?.length ?? 0) > 1)
    return (await import('./fork-variants.ts')).forkVariants(call, planned);
  // Another model is checked against the plugins that are there; everything else needs none of them.
  if (options.run !== true && options.model === undefined && options.param === undefined)
    return create(call, planned);
  return branch(call, planned);
}

/** What is to be forked where, read from the record: a mistake shows before any plugin starts. */
async function requestOf({ args: [text = ''], options, globals }: Call<ForkOptions>): Promise<Planned> {
  const store = existingStore(globals);
  try {
    const { id, address } = await sessionOf(text, store);
    const named = stepNamed(address, options.at, '--at');
    if (named === undefined)
      throw usage(`where? chassis fork ${text} --at STEP (a number, fail, cause or end)`);
    const reader = await store.reader(id);
    const view = await reader.view();
    const at = await stepNumber(view, named);
    if (options.message !== undefined && options.set !== undefined)
      throw usage('--message begins the turn anew, so --set has no step to change: give one of them');
    const edits: Edit[] = (options.set ?? []).map((edit) => editOf(edit, at));
    const title = options.title === undefined ? {} : { title: options.title };
    const message = options.message === undefined ? {} : { message: options.message };
    const clock = options.clock === undefined ? {} : { clock: timeOf(options.clock) };
    const request = { parent: id, at, edits, ...title, ...message, ...clock };
    return { request, header: reader.header, view };
  } finally {
    await store.close();
  }
}

/** An instant as ISO 8601. Without a zone a time of day would mean something else on another machine. */
function timeOf(text: string): number {
  const iso = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d))?$/;
  const time = Date.parse(text);
  if (iso.test(text) && !Number.isNaN(time)) return time;
  throw usage(`--clock ${text}: write a time with its zone, such as 2026-03-01T02:00:00Z, or a date`);
}

/**
 * Tells when an edited answer is one that the tool itself could not have given: what reads it may break on it. From the
 * manifest, so that nothing runs; a project that cannot be read is somebody else's problem.
 */
async function warnOfSchema(
  { request: { at, edits }, view }: Planned,
  { globals, out }: Call<ForkOptions>,
): Promise<void> {
  const step = view.step(at);
  if (step?.kind !== 'tool' || !edits.some(({ path }) => path.startsWith('/output'))) return;
  const project = await projectOf(globals).catch(() => undefined);
  const manifest = project?.catalogue.find(step.plugin?.name ?? '')?.source.manifest;
  const schema = manifest?.tools.find(({ name }) => name === step.name)?.output;
  if (schema === undefined) return;
  let edited: Json = { output: step.output ?? null };
  for (const { path, value } of edits) {
    // An edit that points nowhere is refused where the fork is made.
    if (path !== '/output' && step.output === undefined) return;
    edited = setPointer(edited, path, value);
  }
  const { compileSchema, issueText } = await import('@chassis/schema');
  const [issue] = compileSchema(schema)((edited as { output: Json }).output);
  if (issue !== undefined)
    out.note(
      visible(
        `the edited answer of step ${at} breaks the output schema of ${step.name}: ${issueText(issue)}`,
      ),
    );
}

/** Only the record is needed: no plugin runs. */
async function create({ options, globals, out }: Call<ForkOptions>, planned: Planned): Promise<Ending> {
  const secrets = new Secrets();
  const store = openStore(globals, secrets);
  try {
    const request =
      options.separate === true ? await separated(planned, store, globals, out) : planned.request;
    const session = await Session.fork(
      { store, secrets, registry: asRecorded(planned.header), secret: async () => '' },
      request,
    );
    await session.close();
    return created(out, session.id, request);
  } finally {
    await store.close();
  }
}

async function branch({ options, globals, out }: Call<ForkOptions>, planned: Planned): Promise<Ending> {
  const script = forkScript(options, planned, globals.cwd, out);
  const overrides = scriptOverrides(script, globals.cwd);
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
    const model = modelFor(options.model?.[0], options.param, planned, bench.project);
    if (model !== undefined) demandModel(model, bench.registry);
    const based =
      options.separate === true ? await separated(planned, bench.store, globals, out) : planned.request;
    const request = {
      ...based,
      ...(model === undefined ? {} : { model }),
      ...(script === undefined ? {} : { script }),
    };
    const session = await Session.fork(bench.surroundings(view), request);
    if (options.run !== true) {
      await session.close();
      return created(out, session.id, request);
    }
    const { parent, at, edits, message } = request;
    out.progress(`forked ${parent} ${forkedAt(at, edits, message)} as ${session.id}`);
    const go = () => (request.message === undefined ? session.resume() : session.prompt(request.message));
    return await followTurn(session, go, { view, bench, interrupts, out });
  } finally {
    await bench.close();
    interrupts.end();
  }
}

function created(
  out: Call['out'],
  id: string,
  { parent, at, edits, workspace, message }: ForkRequest,
): Ending {
  out.line(id);
  const changes = edits.map(({ path }) => visible(path)).join(', ');
  out.note(
    `forked ${parent} ${forkedAt(at, edits, message)}${changes === '' ? '' : `, with another ${changes}`}`,
  );
  out.note(
    message === undefined
      ? `next: chassis resume ${id}`
      : /\p{Cc}/u.test(message)
        ? `to go on: chassis run --session ${id} with the other words`
        : `next: chassis run --session ${id} -- ${shellWord(message)}`,
  );
  return {
    exit: ExitCode.ok,
    result: { session: id, parent, at, edits, ...(workspace === undefined ? {} : { workspace }) },
  };
}

/** The plugins that the parent's header names, for a fork that only copies it. */
export function asRecorded({ plugins }: SessionHeader): Registry {
  const refuse = (): never => {
    throw new Error('a fork that does not run resolves nothing');
  };
  return {
    tools: () => [],
    resolveTool: refuse,
    resolveModel: refuse,
    resolveAgent: refuse,
    plugins: () =>
      plugins.map((plugin) => ({
        ...plugin,
        folder: '',
        origin: 'record',
        state: 'stopped',
        criticality: 'optional',
        enforcement: 'declared',
        tools: [],
        models: [],
        agents: [],
      })),
    subscribe: () => () => {},
    close: async () => {},
  };
}
