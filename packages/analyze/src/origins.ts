/**
 * Where the messages of a request come from: the step whose answer or result each one is.
 *
 * `recorded` is said only when the message is that step's own data: a tool message under the call's id that holds the
 * whole result, an assistant message equal to what a model step answered. A shortened result is `inferred`.
 */
import type { RequestDelta, SessionView, Step } from '@chassis/journal';
import type { AssistantMessage, Json, Message, ToolCall } from '@chassis/types';
import { canonical, parseDocument } from './json.ts';
import { perStep } from './memo.ts';
import { outputText } from './outcome.ts';
import { callsOf, type Place, requestOf } from './place.ts';
import { follow, pointer } from './pointer.ts';

/** How sure a link is: a fact of the record, concluded from equal bytes, or supposed. */
export type Label = 'recorded' | 'inferred' | 'guess';

export interface Origin {
  readonly message: Message;
  /** Where the message first stood in a request of this agent. */
  readonly first: Place;
  /** The step whose data the message is; absent for system and user messages. */
  readonly source?: { readonly step: Step; readonly pointer: string; readonly label: Label };
}

/** The previous model step of the same agent. */
export function previousRequest(view: SessionView, step: Step): Step | undefined {
  for (let number = step.number - 1; number > 0; number--) {
    const other = view.step(number);
    if (other?.kind === 'model' && other.agent === step.agent && other.parent === step.parent) return other;
  }
  return undefined;
}

/** How many leading messages two requests share. */
function sharedPrefix(a: readonly Message[], b: readonly Message[]): number {
  let count = 0;
  while (count < a.length && count < b.length && sameMessage(a[count], b[count])) count++;
  return count;
}

interface Added {
  /** How many leading messages the previous request of the agent had already, and which that was. */
  readonly kept: number;
  readonly previous: number | null;
  readonly origins: readonly Origin[];
}

const added = perStep((view, number): Added => {
  const step = view.step(number);
  if (step?.kind !== 'model') return { kept: 0, previous: null, origins: [] };
  const { kept, previous, messages } = newIn(view, step);
  const origins = messages.map((message, index): Origin => {
    const first = { step: number, pointer: pointer('input', 'messages', kept + index) };
    const source = sourceOf(view, step, message);
    return source ? { message, first, source } : { message, first };
  });
  return { kept, previous, origins };
});

/** What is new in a request: as the record has it, or by comparing it with the previous one. */
export function newIn(
  view: SessionView,
  step: Step,
): { kept: number; previous: number | null; messages: readonly Message[] } {
  const delta = view.delta?.(step.number);
  if (delta)
    return delta.from === null
      ? { kept: 0, previous: null, messages: delta.add }
      : { kept: delta.keep, previous: delta.from, messages: delta.add };
  const { messages } = requestOf(view, step.number);
  const previous = previousRequest(view, step);
  const kept = previous ? sharedPrefix(requestOf(view, previous.number).messages, messages) : 0;
  return { kept, previous: previous?.number ?? null, messages: messages.slice(kept) };
}

/** The origins of the messages that are new in a model step's request. */
export function addedOrigins(view: SessionView, step: number): readonly Origin[] {
  return added(view, step).origins;
}

interface Leap {
  readonly from: number;
  readonly keep: number;
}

/** Requests at which the way back through a long conversation is remembered. */
const isRest = (step: number): boolean => step % 128 < 2;

/** From one such request back to the one before: how many leading messages are kept all the way. */
const leapFrom = perStep((view, number): Leap | undefined => {
  let [from, keep] = [number, Number.POSITIVE_INFINITY];
  do {
    const delta = view.delta?.(from);
    if (!delta || delta.from === null || delta.from >= from) return undefined;
    [from, keep] = [delta.from, Math.min(keep, delta.keep)];
  } while (!isRest(from));
  return { from, keep };
});

/** The origin of every message of a model step's request, in the order of the messages. */
export const originsOf = perStep((view, number): readonly Origin[] => {
  const parts: (readonly Origin[])[] = [];
  let length = Number.POSITIVE_INFINITY;
  for (let at: number | null = number; at !== null && length > 0; ) {
    // A request that adds nothing of what is left need not be looked into.
    const leap: Leap | undefined = isRest(at) ? leapFrom(view, at) : undefined;
    if (leap && leap.keep >= length) {
      at = leap.from;
      continue;
    }
    const delta: RequestDelta | undefined = view.delta?.(at);
    if (delta && delta.from !== null && delta.from < at && delta.keep >= length) {
      at = delta.from;
      continue;
    }
    const { kept, previous, origins }: Added = added(view, at);
    parts.push(origins.slice(0, Math.max(0, length - kept)));
    length = Math.min(length, kept);
    at = previous;
  }
  return parts.reverse().flat();
}, 16);

/** The model step that asked for a tool call, and the pointer to the arguments it wrote. */
export function callOf(
  view: SessionView,
  step: Step,
): { model: Step; pointer: string; text: string } | undefined {
  if (step.kind !== 'tool' || step.call_id === undefined) return undefined;
  for (const cause of step.causes) {
    const call = callIn(view.step(cause), step);
    if (call) return call;
  }
  for (let number = step.number - 1; number > 0; number--) {
    const call = callIn(view.step(number), step);
    if (call) return call;
  }
  return undefined;
}

function callIn(
  model: Step | undefined,
  step: Step,
): { model: Step; pointer: string; text: string } | undefined {
  if (model?.kind !== 'model' || model.agent !== step.agent) return undefined;
  const call = callsOf(model).find(({ id }) => id === step.call_id);
  return call && { model, pointer: call.pointer, text: call.arguments };
}

function sourceOf(view: SessionView, step: Step, message: Message): Origin['source'] {
  if (message.role === 'tool') {
    const answered = earlier(
      view,
      step,
      (other) => other.kind === 'tool' && other.call_id === message.tool_call_id,
    );
    const source = answered.find((other) => holdsResult(message.content, other)) ?? answered[0];
    if (!source) return undefined;
    const label = holdsResult(message.content, source) ? 'recorded' : 'inferred';
    return {
      step: source,
      pointer: source.error && source.output === undefined ? '/error' : '/output',
      label,
    };
  }
  if (message.role === 'assistant') {
    const wrote = earlier(
      view,
      step,
      (other) => other.kind === 'model' && answers(follow(other.output, '/message'), message),
    )[0];
    if (!wrote) return undefined;
    const whole = sameCalls(follow(wrote.output, '/message/tool_calls'), message.tool_calls);
    return { step: wrote, pointer: '/output/message', label: whole ? 'recorded' : 'inferred' };
  }
  const summed = message.role === 'user' ? summaryIn(view, step, message.content) : undefined;
  return summed && { step: summed, pointer: '/output/message/content', label: 'inferred' };
}

const leastSummary = 16;

/** The compaction whose summary a message holds: a model step of the same place, between this request and the one before. */
function summaryIn(view: SessionView, step: Step, content: string): Step | undefined {
  for (let number = step.number - 1; number > 0; number--) {
    const other = view.step(number);
    if (other?.kind !== 'model' || other.parent !== step.parent) continue;
    if (other.agent === step.agent) return undefined;
    const text = follow(other.output, '/message/content');
    if (typeof text === 'string' && text.length >= leastSummary && content.includes(text)) return other;
  }
  return undefined;
}

/**
 * Earlier steps of the same agent, the newest first; the search ends at the first few that fit. Who sums up a conversation
 * works on that of the agent beside it.
 */
function earlier(view: SessionView, step: Step, fits: (other: Step) => boolean): Step[] {
  const found: Step[] = [];
  for (let number = step.number - 1; number > 0 && found.length < 2; number--) {
    const other = view.step(number);
    const near = other && (other.agent === step.agent || other.parent === step.parent);
    if (near && fits(other)) found.push(other);
    // Call ids are hardly ever used twice: once one is found, looking on is only worth a few steps.
    if (found.length === 1 && (found[0]?.number ?? 0) - number > 64) break;
  }
  return found;
}

/** Whether the content of a tool message holds the whole result (or the error) of the step. */
function holdsResult(content: string, step: Step): boolean {
  if (step.output !== undefined) {
    if (content === step.output || content === outputText(step)) return true;
    const document = parseDocument(content);
    const whole = canonical(step.output);
    return content === whole || (document !== undefined && canonical(document).includes(whole));
  }
  return step.error !== undefined && content.includes(step.error.message);
}

/** Whether a message of a request is a model's answer; the calls may have been mended on the way, their ids not. */
function answers(answer: Json | undefined, message: AssistantMessage): boolean {
  if (follow(answer, '/content') !== message.content) return false;
  const ids = (calls: unknown): string =>
    canonical(Array.isArray(calls) ? calls.map((call) => follow(call, '/id') ?? null) : []);
  return ids(follow(answer, '/tool_calls')) === ids(message.tool_calls);
}

function sameCalls(answer: Json | undefined, calls: readonly ToolCall[] | undefined): boolean {
  return canonical(answer ?? []) === canonical(calls ?? []);
}

function sameMessage(a: Message | undefined, b: Message | undefined): boolean {
  return (
    a === b || (a !== undefined && b !== undefined && a.role === b.role && canonical(a) === canonical(b))
  );
}
