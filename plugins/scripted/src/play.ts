/**
 * Plays one turn: waits, streams, answers.
 *
 * Promise: everything that is said, thought or called comes from the script and from what the tools returned.
 * Tokens are estimated (a quarter of the UTF-8 bytes) and marked so, unless the script gives them.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { ChassisError } from '@chassis/errors';
import type { InvokeContext } from '@chassis/sdk';
import type { AssistantMessage, Message, ModelRequest, ModelResponse, ToolCall, Usage } from '@chassis/types';
import { factsOf } from './conversation.ts';
import type { Script, ScriptedError, Turn } from './script.ts';
import { type Selection, select } from './select.ts';

/** Usage that nobody measured. */
type EstimatedUsage = Usage & { readonly estimated: true };

export async function play(
  script: Script,
  request: ModelRequest,
  ctx: InvokeContext,
): Promise<ModelResponse> {
  const selection = select(script, request.messages);
  const { turn, number } = selection;
  if (turn === undefined) throw noTurn(script, request.messages, selection);
  // A failure leaves nothing in the conversation, so the attempt is what counts it.
  if (turn.error !== undefined && ctx.attempt <= (turn.error.times ?? Number.POSITIVE_INFINITY)) {
    await pause(turn, ctx);
    throw failure(turn.error);
  }
  const message = await messageOf(turn, request, number);
  await stream(message, turn, ctx);
  return {
    message,
    finish_reason: turn.finish ?? (message.tool_calls === undefined ? 'stop' : 'tool_calls'),
    usage: turn.usage ?? estimate(request, message),
    model: 'scripted',
  };
}

async function messageOf(turn: Turn, request: ModelRequest, number: number): Promise<AssistantMessage> {
  const facts = factsOf(request.messages, number);
  try {
    const content = (await turn.say?.(facts)) ?? '';
    const reasoning = (await turn.think?.(facts)) ?? '';
    const taken = new Set(
      request.messages.flatMap((m) => (m.role === 'assistant' ? (m.tool_calls ?? []) : [])).map((c) => c.id),
    );
    const tool_calls: ToolCall[] = [];
    for (const [i, call] of turn.call.entries()) {
      const id = freshId(call.id ?? `call_${number}_${i + 1}`, taken);
      tool_calls.push({ id, name: call.name, arguments: await call.arguments(facts) });
    }
    return {
      role: 'assistant',
      content,
      ...(reasoning === '' ? {} : { reasoning }),
      ...(tool_calls.length === 0 ? {} : { tool_calls }),
    };
  } catch (error) {
    throw new ChassisError('ModelError', `${turn.at}: ${(error as Error).message}`, {
      cause: error,
      data: { provider: 'scripted', at: turn.at, retryable: false, fix: `correct the turn at ${turn.at}` },
    });
  }
}

/** An id that the conversation does not hold yet: after a compaction the count begins anew. */
function freshId(wanted: string, taken: Set<string>): string {
  let id = wanted;
  for (let n = 2; taken.has(id); n++) id = `${wanted}_${n}`;
  taken.add(id);
  return id;
}

async function stream(message: AssistantMessage, turn: Turn, ctx: InvokeContext): Promise<void> {
  let waited = false;
  const send = async (piece: Parameters<InvokeContext['progress']>[0]): Promise<void> => {
    await pause(turn, ctx);
    waited = true;
    ctx.progress(piece);
  };
  for (const reasoning of pieces(message.reasoning ?? '', turn.chunk)) await send({ reasoning });
  for (const text of pieces(message.content, turn.chunk)) await send({ text });
  for (const [index, call] of (message.tool_calls ?? []).entries()) {
    await send({ tool_call: { index, id: call.id, name: call.name, arguments: call.arguments } });
  }
  if (!waited) await pause(turn, ctx);
}

async function pause(turn: Turn, ctx: InvokeContext): Promise<void> {
  if (turn.delayMs > 0) await sleep(turn.delayMs, undefined, { signal: ctx.signal }).catch(() => {});
  ctx.signal.throwIfAborted();
}

function* pieces(text: string, size: number): Generator<string> {
  const characters = Array.from(text);
  for (let at = 0; at < characters.length; at += size) yield characters.slice(at, at + size).join('');
}

function failure({ status = 500, message, retry_after_ms }: ScriptedError): ChassisError {
  const data = {
    status,
    provider: 'scripted',
    usage: null,
    ...(retry_after_ms === undefined ? {} : { retry_after_ms }),
  };
  if (status === 401 || status === 403) return new ChassisError('Unauthorized', message, { data });
  if (status === 429) return new ChassisError('RateLimited', message, { data });
  return new ChassisError('ModelError', message, { data });
}

function noTurn(script: Script, messages: readonly Message[], { number, usedUp }: Selection): ChassisError {
  const last = messages.at(-1);
  const text = last === undefined ? 'nothing' : `${last.role}: ${JSON.stringify(shortened(last.content))}`;
  const played =
    usedUp.length === 0
      ? ''
      : `; ${usedUp.map((turn) => turn.at).join(', ')} would, but has been played already`;
  return new ChassisError(
    'ModelError',
    `${script.at}: no turn fits answer ${number}, after ${text}${played}`,
    {
      data: {
        provider: 'scripted',
        file: script.file,
        at: script.at,
        turn: number,
        last_message: last === undefined ? null : shortened(last.content),
        retryable: false,
        fix: 'add a turn whose `when` holds there, or `repeat: true` to one that has been played',
      },
    },
  );
}

function shortened(text: string): string {
  const characters = Array.from(text.slice(0, 500));
  return text.length > 200 ? `${characters.slice(0, 200).join('')}…` : text;
}

function estimate(request: ModelRequest, answer: AssistantMessage): EstimatedUsage {
  const prompt = request.messages.reduce((sum, message) => sum + bytesOf(message), 0);
  const tools = request.tools.length === 0 ? 0 : Buffer.byteLength(JSON.stringify(request.tools));
  return {
    input: tokens(prompt + tools),
    cached: 0,
    output: tokens(bytesOf(answer)),
    reasoning: tokens(Buffer.byteLength(answer.reasoning ?? '')),
    estimated: true,
  };
}

function bytesOf(message: Message): number {
  const said = Buffer.byteLength(message.content);
  if (message.role !== 'assistant') return said;
  const calls = (message.tool_calls ?? []).map((call) => call.name + call.arguments).join('');
  return said + Buffer.byteLength(message.reasoning ?? '') + Buffer.byteLength(calls);
}

function tokens(bytes: number): number {
  return Math.ceil(bytes / 4);
}
