/**
 * What a model saw at a step, and how that differs from what it saw before: what came, what stayed, what a compaction took.
 *
 * Promise: the blocks are the request as it was sent, whole and in its order. Tokens are estimates, and add up; what a
 * cache held is the provider's figure, laid over the blocks from the front, because caches hold prefixes.
 */
import { ChassisError } from '@chassis/errors';
import type { SessionView, Step } from '@chassis/journal';
import type { Message } from '@chassis/types';
import { type Difference, firstDifference } from './difference.ts';
import { canonical } from './json.ts';
import { originsOf, previousRequest } from './origins.ts';
import { requestOf } from './place.ts';
import { pointer } from './pointer.ts';
import { messageTokens, toolTokens } from './tokens.ts';

/** One part of a request: a message, or the catalogue of tools. */
export interface Block {
  readonly kind: 'system' | 'user' | 'assistant' | 'tool' | 'tools';
  /** In the model step whose request it is in: `/input/messages/3`, `/input/tools`. */
  readonly pointer: string;
  /** Estimated. */
  readonly tokens: number;
  /** Not in the previous request of the same agent. */
  readonly isNew: boolean;
  /** `whole` or `part`: a cache held it, says the provider; `none`: it did not; `unknown`: no figure, or an estimated one. */
  readonly cached: 'whole' | 'part' | 'none' | 'unknown';
  /** The step whose answer or result it is, when it is one. */
  readonly source?: number;
  /** The tool whose result it is. */
  readonly name?: string;
  /** The first characters of the content. */
  readonly preview: string;
}

export interface Context {
  readonly step: number;
  readonly model: string;
  /** The previous model step of the same agent; null at its first. */
  readonly previous: number | null;
  /** In the order in which the model was given them: tools, then messages. */
  readonly blocks: readonly Block[];
  /** Blocks of the previous request that are no longer there; their pointers are in that step. */
  readonly dropped: readonly Block[];
  readonly tokens: {
    /** Estimated, of all blocks. */
    readonly total: number;
    readonly new: number;
    readonly dropped: number;
    /** As the provider counted; null when it did not say. */
    readonly measured: number | null;
    readonly cached: number | null;
  };
  /** The first place where the request differs from the previous one, beyond being longer: null when it only grew. */
  readonly difference: Difference | null;
}

const previewLength = 120;

/**
 * What the model saw at a model step.
 * @throws InvalidParams when there is no such step, or it is no model step
 */
export function context(view: SessionView, number: number): Context {
  const step = view.step(number);
  if (!step)
    throw new ChassisError('InvalidParams', `no step ${number}: the session has ${view.steps.length}`);
  if (step.kind !== 'model')
    throw new ChassisError(
      'InvalidParams',
      `step ${number} is a ${step.kind} step: only a model step has a context`,
    );
  const before = previousRequest(view, step);
  const kept = before ? counted(requestOf(view, before.number).messages) : new Map<string, number>();
  const own = blocksOf(view, step);
  const there = counted(requestOf(view, number).messages);
  const sameTools =
    before !== undefined &&
    canonical(requestOf(view, before.number).tools) === canonical(requestOf(view, number).tools);
  const blocks = withCache(
    own.map(({ block, key }) => ({
      ...block,
      isNew: block.kind === 'tools' ? !sameTools : !takeOne(kept, key),
    })),
    step,
  );
  const dropped = (before ? blocksOf(view, before) : []).flatMap(({ block, key }) => {
    const gone = block.kind === 'tools' ? !sameTools : !takeOne(there, key);
    return gone ? [{ ...block, isNew: false, cached: 'unknown' } as const] : [];
  });
  const sum = (of: readonly Block[]): number => of.reduce((total, { tokens }) => total + tokens, 0);
  const usage = step.usage ?? null;
  return {
    step: number,
    model: step.attempts.at(-1)?.model ?? step.name,
    previous: before?.number ?? null,
    blocks,
    dropped,
    tokens: {
      total: sum(blocks),
      new: sum(blocks.filter(({ isNew }) => isNew)),
      dropped: sum(dropped),
      measured: usage?.input ?? null,
      cached: usage?.cached ?? null,
    },
    difference: before ? changed(view, before, step) : null,
  };
}

type Bare = Omit<Block, 'isNew' | 'cached'>;

function blocksOf(view: SessionView, step: Step): { block: Bare; key: string }[] {
  const { messages, tools } = requestOf(view, step.number);
  const origins = originsOf(view, step.number);
  const catalogue: Bare = {
    kind: 'tools',
    pointer: '/input/tools',
    tokens: toolTokens(tools),
    preview: preview(tools.map(({ name }) => name).join(', ')),
  };
  const said = messages.map((message, index) => {
    const source = origins[index]?.source?.step;
    const block: Bare = {
      kind: message.role,
      pointer: pointer('input', 'messages', index),
      tokens: messageTokens(message),
      ...(source ? { source: source.number } : {}),
      ...(source && message.role === 'tool' ? { name: source.name } : {}),
      preview: preview(textOf(message)),
    };
    return { block, key: canonical(message) };
  });
  return tools.length === 0 ? said : [{ block: catalogue, key: '' }, ...said];
}

/** Lays the provider's figure over the blocks from the front. */
function withCache(blocks: readonly Omit<Block, 'cached'>[], step: Step): Block[] {
  const { usage } = step;
  if (!usage || usage.estimated) return blocks.map((block) => ({ ...block, cached: 'unknown' }));
  const total = blocks.reduce((sum, { tokens }) => sum + tokens, 0);
  // Estimates and the provider's count differ: the share is what can be compared.
  const held = usage.input > 0 ? (usage.cached / usage.input) * total : 0;
  let end = 0;
  return blocks.map((block): Block => {
    const start = end;
    end += block.tokens;
    return { ...block, cached: end <= held ? 'whole' : start < held ? 'part' : 'none' };
  });
}

/** Where the common part of two requests parts, in the messages or beside them. */
function changed(view: SessionView, before: Step, step: Step): Difference | null {
  const [was, is] = [requestOf(view, before.number), requestOf(view, step.number)];
  return firstDifference(was, { ...is, messages: is.messages.slice(0, was.messages.length) }, '/input');
}

function counted(messages: readonly Message[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const message of messages) {
    const key = canonical(message);
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}

function takeOne(counts: Map<string, number>, key: string): boolean {
  const left = counts.get(key) ?? 0;
  if (left > 0) counts.set(key, left - 1);
  return left > 0;
}

function textOf(message: Message): string {
  if (message.role !== 'assistant' || message.content !== '') return message.content;
  return (message.tool_calls ?? []).map(({ name, arguments: text }) => `${name} ${text}`).join('; ');
}

function preview(text: string): string {
  return text.length <= previewLength
    ? text
    : `${text.slice(0, previewLength - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}
