/**
 * Edits of what a step is asked: of a request's messages, parameters and tools, of a call's arguments, of the model.
 *
 * The agent's own code runs again in a fork, and it builds the request as it did then: so an edit is applied where
 * the request passes the gate. It holds from its step on, in every later request that shows the same message again.
 *
 * Promise: what is in the header of a fork is enough to run it again with the same requests.
 */
import { ChassisError } from '@chassis/errors';
import { canonicalJson, type Edit, getPointer, type SessionView, setPointer } from '@chassis/journal';
import type { Json, JsonObject, Message, ModelRequest, ToolSpec } from '@chassis/types';
import type { Ask } from '../gate/ask.ts';
import type { TurnModel } from '../gate/options.ts';

export interface Rewrite {
  /** Turn that the fork goes on with; the model and parameters hold in this one, later turns have their own. */
  readonly turn: number;
  readonly messages: readonly { readonly at: number; readonly before: Message; readonly after: Message }[];
  readonly params: JsonObject;
  readonly tools: { readonly before: readonly ToolSpec[]; readonly after: readonly ToolSpec[] } | null;
  readonly call: { readonly name: string; readonly before: Json; readonly after: Json } | null;
  readonly model: Pick<TurnModel, 'name' | 'fallbacks'> | null;
}

/** The rewrites that a session's header carries, its parents' first. */
export function rewritesOf(view: Pick<SessionView, 'header'>): readonly Rewrite[] {
  return (view.header.settings as { forks?: readonly Rewrite[] }).forks ?? [];
}

/**
 * @param edits of the input of one step
 * @throws InvalidParams for an edit that points nowhere
 */
export function rewriteOf(
  view: SessionView,
  turn: number,
  edits: readonly Edit[],
  model: TurnModel | undefined,
): Rewrite | null {
  const base = {
    turn,
    messages: [],
    params: model?.params ?? {},
    tools: null,
    call: null,
    model: model === undefined ? null : { name: model.name, fallbacks: model.fallbacks },
  };
  const [first] = edits;
  if (first === undefined) return model === undefined ? null : base;
  const step = view.step(first.step);
  if (step === undefined) throw new ChassisError('InvalidParams', `there is no step ${first.step}`);
  const before = step.kind === 'model' ? (view.request(step.number) as unknown as Json) : step.input;
  let whole: Json = { input: before };
  for (const { path, value } of edits) {
    getPointer(whole, parentOf(path));
    whole = setPointer(whole, path, value);
  }
  const after = (whole as { input: Json }).input;
  if (step.kind !== 'model') return { ...base, call: { name: step.name, before, after } };
  const [was, is] = [before, after] as unknown as [ModelRequest, ModelRequest];
  if (is.messages.length !== was.messages.length)
    throw new ChassisError(
      'InvalidParams',
      'an edit replaces messages of a request or parts of them; it cannot add or remove one: change the message with --message, or edit the step that said it',
    );
  return {
    ...base,
    messages: was.messages.flatMap((message, at) => {
      const other = is.messages[at] as Message;
      return same(message, other) ? [] : [{ at, before: message, after: other }];
    }),
    params: { ...base.params, ...changedMembers(was.params, is.params) },
    tools: same(was.tools, is.tools) ? null : { before: was.tools, after: is.tools },
  };
}

/** The ask as it was made, then with the rewrites one after another: the record decides which of them it knows. */
function* variantsOf(ask: Ask, rewrites: readonly Rewrite[]): Generator<Ask> {
  yield ask;
  let current = ask;
  for (const rewrite of rewrites) {
    const next = rewritten(current, rewrite);
    if (next !== current) yield next;
    current = next;
  }
}

/** The gate's option for a session: none when nothing is rewritten. */
export function variantsFor(view: Pick<SessionView, 'header'>): { variants?(ask: Ask): Iterable<Ask> } {
  const rewrites = rewritesOf(view);
  return rewrites.length === 0 ? {} : { variants: (ask) => variantsOf(ask, rewrites) };
}

function rewritten(ask: Ask, rewrite: Rewrite): Ask {
  if (ask.kind === 'tool') {
    const { call } = rewrite;
    return call !== null && call.name === ask.name && same(call.before, ask.input)
      ? { ...ask, input: call.after }
      : ask;
  }
  if (ask.kind !== 'model') return ask;
  const own = ask.turn === rewrite.turn;
  const { model, params } = rewrite;
  const { request } = ask;
  const messages = replaced(request.messages, rewrite.messages);
  const tools =
    rewrite.tools !== null && same(rewrite.tools.before, request.tools) ? rewrite.tools.after : request.tools;
  const changesParams = own && Object.keys(params).length > 0;
  if (messages === request.messages && tools === request.tools && !changesParams && (model === null || !own))
    return ask;
  return {
    ...ask,
    ...(own && model !== null ? model : {}),
    request: { messages, tools, params: changesParams ? { ...request.params, ...params } : request.params },
  };
}

function replaced(messages: readonly Message[], edits: Rewrite['messages']): readonly Message[] {
  let result: Message[] | undefined;
  for (const { at, before, after } of edits) {
    const there = messages[at];
    const place =
      there !== undefined && same(there, before)
        ? at
        : messages.findIndex((message) => same(message, before));
    if (place < 0) continue;
    result ??= [...messages];
    result[place] = after;
  }
  return result ?? messages;
}

function changedMembers(before: JsonObject, after: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(after).filter(([key, value]) => before[key] === undefined || !same(before[key], value)),
  );
}

function same(a: unknown, b: unknown): boolean {
  return a === b || canonicalJson(a as Json) === canonicalJson(b as Json);
}

function parentOf(path: string): string {
  return path.slice(0, path.lastIndexOf('/'));
}
