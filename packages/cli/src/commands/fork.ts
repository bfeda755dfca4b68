/** `chassis fork`: a new session that shares the past up to a step, with that step's answer edited. */
import { ExitCode } from '@chassis/errors';
import type { Edit, SessionHeader } from '@chassis/journal';
import { Secrets } from '@chassis/journal';
import { type ForkRequest, type Registry, Session } from '@chassis/runtime';
import { editOf } from '../edits.ts';
import { usage } from '../failure.ts';
import { listenForInterrupts } from '../interrupt.ts';
import { demandModel, modelOf } from '../models.ts';
import type { Call, Ending } from '../reference/spec.ts';
import { RunView } from '../run-view.ts';
import { scriptOverrides } from '../script-option.ts';
import { sessionOf, stepNumber } from '../sessions.ts';
import { existingStore, openStore } from '../store.ts';
import { visible } from '../terminal/text.ts';
import { followTurn } from '../turn.ts';
import { openWorkbench, tellProblems } from '../workbench.ts';
import { stepNamed } from './show.ts';

interface Options {
  readonly at?: string;
  readonly set?: readonly string[];
  readonly run?: true;
  readonly model?: string;
  readonly title?: string;
  readonly script?: string;
  readonly approve?: readonly string[];
  readonly quiet?: true;
}

export async function fork(call: Call<Options>): Promise<Ending> {
  const { options } = call;
  call.out.quiet = options.quiet === true;
  const { request, header } = await requestOf(call);
  // Another model is checked against the plugins that are there; everything else needs none of them.
  if (options.run !== true && options.model === undefined) return create(call, request, header);
  return branch(call, request);
}

/** What is to be forked where, read from the record: a mistake shows before any plugin starts. */
async function requestOf({
  args: [text = ''],
  options,
  globals,
}: Call<Options>): Promise<{ request: ForkRequest; header: SessionHeader }> {
  const store = existingStore(globals);
  try {
    const { id, address } = await sessionOf(text, store);
    const named = stepNamed(address, options.at, '--at');
    if (named === undefined)
      throw usage(`where? chassis fork ${text} --at STEP (a number, fail, cause or end)`);
    const reader = await store.reader(id);
    const at = await stepNumber(await reader.view(), named);
    const edits: Edit[] = (options.set ?? []).map((edit) => editOf(edit, at));
    const title = options.title === undefined ? {} : { title: options.title };
    return { request: { parent: id, at, edits, ...title }, header: reader.header };
  } finally {
    await store.close();
  }
}

/** Only the record is needed: no plugin runs. */
async function create(
  { globals, out }: Call<Options>,
  request: ForkRequest,
  header: SessionHeader,
): Promise<Ending> {
  const secrets = new Secrets();
  const store = openStore(globals, secrets);
  try {
    const session = await Session.fork(
      { store, secrets, registry: asRecorded(header), secret: async () => '' },
      request,
    );
    await session.close();
    return created(out, session.id, request);
  } finally {
    await store.close();
  }
}

async function branch({ options, globals, out }: Call<Options>, request: ForkRequest): Promise<Ending> {
  const overrides = scriptOverrides(options.script, globals.cwd);
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
    const view = new RunView(out);
    const model = options.model === undefined ? undefined : modelOf(options.model, bench.project);
    if (model !== undefined) demandModel(model, bench.registry);
    const session = await Session.fork(bench.surroundings(view), {
      ...request,
      ...(model === undefined ? {} : { model }),
    });
    if (options.run !== true) {
      await session.close();
      return created(out, session.id, request);
    }
    out.progress(`forked ${request.parent} behind step ${request.at} as ${session.id}`);
    return await followTurn(session, () => session.resume(), { view, interrupts, out });
  } finally {
    await bench.close();
    interrupts.end();
  }
}

function created(out: Call['out'], id: string, { parent, at, edits }: ForkRequest): Ending {
  out.line(id);
  const changes = edits.map(({ path }) => visible(path)).join(', ');
  out.note(`forked ${parent} behind step ${at}${changes === '' ? '' : `, with another ${changes}`}`);
  out.note(`next: chassis resume ${id}`);
  return { exit: ExitCode.ok, result: { session: id, parent, at, edits } };
}

/** The plugins that the parent's header names, for a fork that only copies it. */
function asRecorded({ plugins }: SessionHeader): Registry {
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
