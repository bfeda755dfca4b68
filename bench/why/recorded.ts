/**
 * Whether a link that is called `recorded` is one: read off the record anew, with nothing of the analysis in between.
 *
 * What the record states: a call has the arguments that the model wrote under its id, a message of a request is a step's
 * result or answer or was in an earlier request already, a step names the steps that led to it.
 */
import { getPointer, type SessionView, type Step } from '../../packages/journal/src/index.ts';
import type { Message } from '../../packages/types/src/index.ts';

interface At {
  readonly step: number;
  readonly pointer: string;
  readonly range?: readonly [number, number];
}

export function isOnRecord(view: SessionView, from: At, to: At): boolean {
  const [later, earlier] = [view.step(from.step), view.step(to.step)];
  if (!later) return false;
  if (!earlier) return to.step === 0;
  const parts = from.pointer.split('/');
  if (later.kind === 'model' && parts[1] === 'input' && parts[2] === 'messages') {
    const message = view.request(later.number).messages[Number(parts[3])];
    return message !== undefined && isMessageOf(view, message, earlier, to);
  }
  if (later.kind === 'tool' && parts[1] === 'input' && to.pointer.includes('/tool_calls/'))
    return isArgument(later, earlier, from, to);
  return leads(view, later, earlier.number);
}

function isMessageOf(view: SessionView, message: Message, step: Step, to: At): boolean {
  if (to.pointer.startsWith('/input/messages/')) {
    const same = view.request(step.number).messages[Number(to.pointer.split('/')[3])];
    return JSON.stringify(same) === JSON.stringify(message);
  }
  if (message.role === 'assistant') {
    const answer = (step.output as { message?: Message } | undefined)?.message;
    return answer?.role === 'assistant' && answer.content === message.content;
  }
  if (message.role !== 'tool' || message.tool_call_id !== step.call_id) return false;
  const text = textAt(step, to);
  return (
    text !== undefined &&
    (message.content.includes(text) || message.content.includes(JSON.stringify(text).slice(1, -1)))
  );
}

function isArgument(tool: Step, model: Step, from: At, to: At): boolean {
  const index = Number(to.pointer.split('/')[4]);
  const calls = (
    model.output as { message?: { tool_calls?: { id: string; arguments: string }[] } } | undefined
  )?.message?.tool_calls;
  const call = calls?.[index];
  if (!call || call.id !== tool.call_id) return false;
  const value = textAt(tool, from);
  const written = to.range ? call.arguments.slice(...to.range) : call.arguments;
  return (
    value !== undefined &&
    (written === value || written === JSON.stringify(value) || written === JSON.stringify(value).slice(1, -1))
  );
}

/** Whether the steps that a step names, directly or over others, hold this one. */
function leads(view: SessionView, later: Step, number: number): boolean {
  const seen = new Set<number>();
  const queue: Step[] = [later];
  for (let step = queue.pop(); step; step = queue.pop()) {
    for (const on of [...step.causes, ...(step.parent === null ? [] : [step.parent])]) {
      if (on === number) return true;
      const next = seen.has(on) ? undefined : view.step(on);
      seen.add(on);
      if (next) queue.push(next);
    }
  }
  return false;
}

function textAt(step: Step, { pointer, range }: At): string | undefined {
  let value: unknown;
  try {
    value = getPointer(step as never, pointer);
  } catch {
    return undefined;
  }
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return range && typeof value === 'string' ? value.slice(...range) : text;
}
