/**
 * `chassis rewind`: back to a step, in conversation, files, or both.
 *
 * Promise: the original session is never written to. Files go into a folder of their own; with `--in-place` into the workspace,
 * after what stands there was copied, and not at all when somebody else changed one of them since. No plugin runs.
 */
import { join } from 'node:path';
import { ChassisError, ExitCode } from '@chassis/errors';
import { newSessionId, Secrets, type SessionView, type Step, type Store } from '@chassis/journal';
import {
  captureFiles,
  changedSince,
  filesAt,
  type Restored,
  restoreFiles,
  Session,
  undoneNever,
} from '@chassis/runtime';
import { usage } from '../failure.ts';
import { ownWorkspace } from '../own-workspace.ts';
import type { Call, Ending } from '../reference/spec.ts';
import { sessionOf, stepNumber } from '../sessions.ts';
import { openStore, storeFolder } from '../store.ts';
import { visible } from '../terminal/text.ts';
import { asRecorded } from './fork.ts';
import { stepNamed } from './show.ts';

interface Options {
  readonly at?: string;
  readonly what?: string;
  readonly inPlace?: true;
  readonly dryRun?: true;
}

export async function rewind({ args: [text = ''], options, globals, out }: Call<Options>): Promise<Ending> {
  const what = options.what ?? 'both';
  if (what !== 'chat' && what !== 'files' && what !== 'both')
    throw usage(`--what ${what}: it is chat, files or both`);
  const secrets = new Secrets();
  const store = openStore(globals, secrets);
  try {
    const { id, address } = await sessionOf(text, store);
    const named = stepNamed(address, options.at, '--at');
    if (named === undefined)
      throw usage(`where to? chassis rewind ${text}:STEP (a number, fail, cause or end)`);
    const reader = await store.reader(id);
    const view = await reader.view();
    const at = await stepNumber(view, named);
    const never = undoneNever(view, at);
    const files = what === 'chat' ? [] : changesTo(view, at);
    for (const line of preview(view, at, never, files)) out.line(line);
    const found = {
      session: id,
      at,
      what,
      cannot_be_undone: never.map(({ number, name, effects }) => ({ step: number, name, effects })),
      files,
    };
    if (options.dryRun === true) return { result: { ...found, dry_run: true } };

    const place: Placed | undefined =
      what === 'chat'
        ? undefined
        : options.inPlace === true
          ? await inPlace(view, at, store, storeFolder(globals))
          : { restored: await ownWorkspace(view, at, store, globals) };
    const workspace = place?.restored.folder ?? view.header.workspace;
    const fork = what === 'files' ? null : await forkAt(store, secrets, view, id, at, workspace);
    for (const line of outcome(place, fork)) out.line(line);
    const refused = place?.restored.refused ?? [];
    return {
      exit: refused.length === 0 ? ExitCode.ok : ExitCode.failed,
      result: { ...found, fork, workspace, ...place },
    };
  } finally {
    await store.close();
  }
}

/** Paths whose content differs between the step and the end. */
function changesTo(
  view: SessionView,
  at: number,
): { path: string; from: string | null; to: string | null }[] {
  const end = new Map(filesAt(view, view.steps.length).map((file) => [file.path, file.content]));
  return filesAt(view, at)
    .filter(({ path, content }) => end.get(path) !== content)
    .map(({ path, content }) => ({ path, from: end.get(path) ?? null, to: content }));
}

function preview(
  view: SessionView,
  at: number,
  never: readonly Step[],
  files: ReturnType<typeof changesTo>,
): string[] {
  const steps = view.steps.length - at;
  return [
    `back to step ${at}: ${steps} later step${steps === 1 ? '' : 's'} left behind`,
    ...files.map(({ path, to }) => `  ${to === null ? 'removes' : 'puts back'} ${visible(path)}`),
    ...(never.length === 0 ? [] : ['cannot be undone:']),
    ...never.flatMap(({ number, name, effects }) =>
      effects.flatMap((effect) =>
        effect.kind === 'file'
          ? []
          : effect.kind === 'http'
            ? [`  step ${number} ${visible(name)}: ${effect.method} ${visible(effect.url)}`]
            : [`  step ${number} ${visible(name)}: ran ${visible(effect.argv.join(' '))}`],
      ),
    ),
  ];
}

interface Placed {
  readonly restored: Restored;
  /** Where the files that stood there were copied to. */
  readonly kept?: string;
}

async function inPlace(view: SessionView, at: number, store: Store, folder: string): Promise<Placed> {
  const { workspace, id } = view.header;
  const changed = await changedSince(view, workspace);
  if (changed.length > 0)
    throw new ChassisError(
      'Conflict',
      `${changed.map(({ path }) => path).join(', ')} ${changed.length === 1 ? 'is' : 'are'} not as session ${id} left ${changed.length === 1 ? 'it' : 'them'}: somebody changed ${changed.length === 1 ? 'it' : 'them'} since, so nothing was touched; leave out --in-place to get a folder of its own`,
      { data: { changed } },
    );
  const kept = join(folder, 'workspaces', `${id}-before-${newSessionId()}`);
  await captureFiles(view, workspace, kept);
  return { restored: await restoreFiles(view, at, store, workspace), kept };
}

async function forkAt(
  store: Store,
  secrets: Secrets,
  view: SessionView,
  parent: string,
  at: number,
  workspace: string,
): Promise<string> {
  const session = await Session.fork(
    { store, secrets, registry: asRecorded(view.header), secret: async () => '' },
    { parent, at, edits: [], workspace },
  );
  await session.close();
  return session.id;
}

function outcome(place: Placed | undefined, fork: string | null): string[] {
  const restored = place?.restored;
  return [
    ...(restored === undefined
      ? []
      : [
          `files: ${restored.written.length} put back, ${restored.deleted.length} removed, in ${visible(restored.folder)}`,
        ]),
    ...(restored?.refused ?? []).map(({ path, why }) => `  not restored: ${visible(path)}: ${visible(why)}`),
    ...(place?.kept === undefined ? [] : [`what stood there is kept in ${visible(place.kept)}`]),
    ...(fork === null
      ? []
      : [
          `conversation: ${fork}`,
          `next: chassis show ${fork}`,
          `to go on: chassis run --session ${fork} with what is to be done`,
        ]),
  ];
}
