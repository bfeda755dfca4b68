/**
 * How steps become messages, in one place: the loop, the history of a later turn and a repaired session all use it.
 *
 * Promise: every call is followed by exactly one result, in the order of the calls, whatever happened to it; argument
 * text that is no JSON object never travels back to a model, and stays on record where it was said.
 */
import { type ErrorRecord, errorName } from '@chassis/errors';
import { isExactNumber, parseJson, type SessionView, type Step, stringifyJson } from '@chassis/journal';
import type {
  AssistantMessage,
  Json,
  JsonObject,
  Message,
  ModelResponse,
  ToolCall,
  ToolMessage,
} from '@chassis/types';
import type { Outcome } from '../gate/ask.ts';
import { contentIn } from '../gate/content.ts';

/** The arguments as a JSON object, or the text as it is when it is none. Exact numbers are kept. */
export function argumentsOf(text: string): Json {
  if (text.trim() === '') return {};
  try {
    const value = parseJson(text);
    return isObject(value) ? value : text;
  } catch {
    return text;
  }
}

/** An assistant message as it goes back into a conversation: its calls carry the text of a JSON object. */
export function historyMessage(message: AssistantMessage): AssistantMessage {
  if (message.tool_calls === undefined || message.tool_calls.every(isSound)) return message;
  return {
    ...message,
    tool_calls: message.tool_calls.map((call) => (isSound(call) ? call : { ...call, arguments: '{}' })),
  };
}

function isSound(call: ToolCall): boolean {
  return call.arguments.trim() !== '' && isObject(argumentsOf(call.arguments));
}

/** What the model is told about a tool step. */
export function toolMessage(
  callId: string,
  outcome: Pick<Outcome, 'status' | 'output' | 'error'>,
): ToolMessage {
  if (outcome.status === 'ok') {
    const { output } = outcome;
    const words = contentIn(output)?.text ?? output;
    const content = typeof words === 'string' ? words : stringifyJson(words ?? null);
    return { role: 'tool', tool_call_id: callId, content };
  }
  return { role: 'tool', tool_call_id: callId, content: failureText(outcome.error), is_error: true };
}

/** An error as a model can act on it: name, sentence, and the places that are wrong. */
function failureText(error: ErrorRecord | undefined): string {
  if (error === undefined) return 'The call was interrupted; its outcome is unknown.';
  const { issues, fix } = (error.data ?? {}) as { issues?: Json; fix?: Json };
  const details = [
    issues === undefined ? '' : `\nissues: ${stringifyJson(issues)}`,
    typeof fix === 'string' ? `\nfix: ${fix}` : '',
  ];
  return `${errorName(error.code)}: ${error.message}${details.join('')}`;
}

/**
 * The conversation that an agent's next turn begins with: without system messages, every call answered.
 *
 * @param before turns below this number count
 */
export function conversationBefore(view: SessionView, before: number, agent = 'main'): readonly Message[] {
  const own = (step: Step): boolean => step.agent === agent && step.parent === null && step.turn < before;
  const end = view.marks?.before(before) ?? view.steps.length;
  const steps: Step[] = [];
  let last: Step | undefined;
  // From the end: of a long session only its last steps are looked at.
  for (let number = end; number >= 1 && last === undefined; number--) {
    const step = view.step(number);
    if (step === undefined || !own(step)) continue;
    if (step.kind === 'model') last = step;
    else steps.push(step);
  }
  const messages: Message[] =
    last === undefined ? [] : [...view.request(last.number).messages.filter(isConversation)];
  if (last?.status === 'ok') messages.push(...answered(last, steps.reverse()));
  for (let number = (last?.turn ?? 0) + 1; number < before && number <= view.turns.length; number++)
    messages.push({ role: 'user', content: view.turns[number - 1]?.input ?? '' });
  return messages;
}

/** A model step's answer and one result for each call in it, in the order of the calls. */
function answered(model: Step, steps: readonly Step[]): readonly Message[] {
  const response = model.output as unknown as ModelResponse;
  const calls = response.message.tool_calls ?? [];
  const results = calls.map((call) => {
    const step = steps.find(
      (s) => s.kind === 'tool' && s.call_id === call.id && s.causes.includes(model.number),
    );
    if (step !== undefined && step.seq.finished !== undefined)
      return toolMessage(call.id, step as Pick<Outcome, 'status' | 'output' | 'error'>);
    const content =
      response.finish_reason === 'length'
        ? cutCallText
        : 'The run ended before this call was made; nothing was done.';
    return { role: 'tool', tool_call_id: call.id, content, is_error: true } as const;
  });
  return [historyMessage(response.message), ...results];
}

/** Told to the model about a call that the output limit cut: it was not made. */
export const cutCallText =
  'The output limit cut this answer, so the call may be incomplete. It was not made. Send it again, in smaller pieces.';

function isConversation(message: Message): boolean {
  return message.role !== 'system';
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isExactNumber(value);
}
