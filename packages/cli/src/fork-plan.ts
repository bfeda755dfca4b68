/** What a fork is made of: where it leaves, which model goes on, which folder it works in. Shared by single forks and variants. */
import { parseJson, type SessionHeader, type SessionView, type Store } from '@chassis/journal';
import type { ForkRequest, Project, TurnModel } from '@chassis/runtime';
import type { JsonObject } from '@chassis/types';
import { usage } from './failure.ts';
import { modelOf } from './models.ts';
import { ownWorkspace } from './own-workspace.ts';
import type { Call } from './reference/spec.ts';
import { scriptAgain } from './script-option.ts';
import { visible } from './terminal/text.ts';

export interface ForkOptions {
  readonly at?: string;
  readonly set?: readonly string[];
  readonly run?: true;
  readonly model?: readonly string[];
  readonly param?: readonly string[];
  readonly message?: string;
  readonly clock?: string;
  readonly separate?: true;
  readonly n?: string;
  readonly verify?: string;
  readonly title?: string;
  readonly script?: string;
  readonly approve?: readonly string[];
  readonly quiet?: true;
}

/** What is to be forked where. */
export interface Planned {
  readonly request: ForkRequest;
  readonly header: SessionHeader;
  readonly view: SessionView;
}

/** The model that goes on: another one, or the recorded one with other parameters. */
export function modelFor(
  name: string | undefined,
  params: readonly string[] | undefined,
  { request, view }: Planned,
  project: Project,
): TurnModel | undefined {
  if (name === undefined && params === undefined) return undefined;
  const turn = view.turns[(view.step(request.at)?.turn ?? 1) - 1];
  const base = name === undefined ? (turn?.model ?? view.header.model) : modelOf(name, project);
  return { ...base, params: { ...base.params, ...paramsOf(params ?? []) } };
}

/** The script of a fork that runs: the one given, else the one of its parent. */
export function forkScript(
  { script, model }: ForkOptions,
  { header, request, view }: Planned,
  cwd: string,
  out: Call['out'],
): string | undefined {
  const turn = view.turns[(view.step(request.at)?.turn ?? 1) - 1];
  const asked = model?.map((names) => ({ name: '', fallbacks: names.split(',') }));
  return scriptAgain(script, header, asked ?? [turn?.model ?? header.model], { cwd, out });
}

/** `--param temperature=0`: JSON when it is, else a text. */
function paramsOf(given: readonly string[]): JsonObject {
  return Object.fromEntries(
    given.map((text) => {
      const equals = text.indexOf('=');
      if (equals <= 0) throw usage(`--param ${text}: write KEY=VALUE, for example temperature=0`);
      const value = text.slice(equals + 1);
      try {
        return [text.slice(0, equals), parseJson(value)];
      } catch {
        return [text.slice(0, equals), value];
      }
    }),
  );
}

/** A folder of the fork's own, with the files as they were where it begins. */
export async function separated(
  { request, view }: Planned,
  store: Store,
  globals: Call['globals'],
  out: Call['out'],
): Promise<ForkRequest> {
  const { folder, written, deleted, refused } = await ownWorkspace(
    view,
    beginsBehind(request, view),
    store,
    globals,
  );
  out.progress(`workspace ${folder}: ${written.length + deleted.length} files as they were then`);
  for (const { path, why } of refused) out.note(`not restored: ${visible(path)}: ${visible(why)}`);
  return { ...request, workspace: folder };
}

/** The last step whose files the fork has. */
function beginsBehind({ at, edits, message }: ForkRequest, view: SessionView): number {
  if (message !== undefined)
    return view.steps.findLast((step) => step.turn < (view.step(at)?.turn ?? 1))?.number ?? 0;
  return edits.some(({ path }) => /^\/input(\/|$)/.test(path)) ? at - 1 : at;
}
