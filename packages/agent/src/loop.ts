/**
 * The agent loop: ask the model, run what it calls, show it the results, until it answers.
 *
 * Promise: results stand in the order of the calls, whichever finished first; every call has exactly one result; a call that
 * the output limit cut is not run; nothing here reads a clock, chance or the world but through the harness.
 */
import { ChassisError, ErrorCode, type ErrorRecord } from '@chassis/errors';
import { cutCallText, TOOL_SEARCH, withFound } from '@chassis/runtime';
import type { AgentInput, InvokeContext } from '@chassis/sdk';
import type { AssistantMessage, Message, ToolCall, ToolMessage } from '@chassis/types';
import { ContextWindow } from './context.ts';
import { harnessOf, type Reply, type ToolReply } from './harness.ts';
import { settingsOf } from './settings.ts';

/** Answers that the output limit may cut in a row before the run gives up. */
const maxCuts = 3;

export async function runTurn(input: AgentInput, ctx: InvokeContext): Promise<{ answer: string }> {
  const harness = harnessOf(ctx);
  const { system, history, tools: listed, settings: given } = await harness.start();
  let tools = listed;
  const settings = settingsOf(given);
  const window = new ContextWindow(harness, settings, tools);
  let messages: readonly Message[] = [
    ...(system === null ? [] : [{ role: 'system', content: system } as const]),
    ...history,
    { role: 'user', content: input.content },
  ];
  let causes: readonly number[] = [];
  let failures = 0;
  let cuts = 0;
  for (;;) {
    messages = await window.fit(messages, causes);
    let reply = await harness.generate(messages, tools, causes);
    if (reply.message === undefined && reply.error.code === ErrorCode.ContextTooLong) {
      messages = await window.fit(messages, causes, true);
      reply = await harness.generate(messages, tools, causes);
    }
    const { message, response, step } = answered(reply);
    if (response.usage !== null) window.measured(messages.length, response.usage.input);
    // The model's own words: `message` is what goes back to it, with unreadable arguments emptied.
    const calls = response.message.tool_calls ?? [];
    const cut = response.finish_reason === 'length';
    if (calls.length === 0) return { answer: finalAnswer(message, response.finish_reason, step) };
    if (cut && ++cuts >= maxCuts) throw stopped('the output limit cut the answer again and again', step);
    if (!cut) cuts = 0;
    const results = cut ? [] : await Promise.all(calls.map((call) => harness.callTool(call, step)));
    messages = messages.concat(message, cut ? calls.map(cutResult) : results.map((result) => result.message));
    causes = cut ? [step] : results.map((result) => result.step);
    // What a search found can be called from now on.
    const found = results.flatMap(({ output }, at) =>
      calls[at]?.name === TOOL_SEARCH ? [output ?? null] : [],
    );
    tools = withFound(tools, found);
    window.offer(tools);
    failures = countFailures(results, failures, settings.max_tool_errors);
  }
}

function answered(reply: Reply): Extract<Reply, { status: 'ok' }> {
  if (reply.message !== undefined) return reply as Extract<Reply, { status: 'ok' }>;
  throw failed(reply.error, reply.step, reply.error.message);
}

function finalAnswer({ content }: AssistantMessage, reason: string, step: number): string {
  if (reason === 'length') throw stopped('the output limit cut the answer', step);
  if (reason === 'content_filter') throw stopped("the provider's content filter stopped the answer", step);
  return content;
}

/** Failed tool calls in a row; a run that only fails is ended. @throws the last failure */
function countFailures(results: readonly ToolReply[], before: number, limit: number): number {
  let failures = before;
  for (const { status, error, step } of results) {
    if (status === 'ok' || error === undefined) {
      failures = 0;
      continue;
    }
    const nobody = (error.data as { by?: unknown } | undefined)?.by === 'nobody';
    if (error.code === ErrorCode.BudgetExceeded || error.code === ErrorCode.Cancelled || nobody)
      throw failed(error, step, error.message);
    if (++failures >= limit)
      throw failed(
        error,
        step,
        failures === 1 ? error.message : `${failures} tool calls failed in a row; the last: ${error.message}`,
      );
  }
  return failures;
}

function cutResult(call: ToolCall): ToolMessage {
  return { role: 'tool', tool_call_id: call.id, content: cutCallText, is_error: true };
}

function failed(error: ErrorRecord, step: number, message: string): ChassisError {
  const data = typeof error.data === 'object' && error.data !== null ? error.data : {};
  return new ChassisError(error.code, message, { data: { ...data, step } });
}

function stopped(message: string, step: number): ChassisError {
  return new ChassisError('InvalidOutput', message, { data: { step } });
}
