/**
 * Who is asked when a tool needs a person.
 *
 * Promise: a person sees the tool and its exact arguments, with nothing in them that could redraw the question; without a
 * terminal nobody is asked, and what needs a person is refused.
 */
import { type ApprovalRequest, type Approver, nobody } from '@chassis/runtime';
import type { Output } from './output.ts';
import { fullValue, indent } from './present/value.ts';
import { visible } from './terminal/text.ts';

/** @param asking what a question on the terminal has to do with the rest of the process */
export function approver(asking: Asking): Approver {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return nobody;
  // One question at a time: calls may run in parallel, a person does not.
  let queue: Promise<unknown> = Promise.resolve();
  return {
    ask: (request, signal) => {
      const answer = queue.then(() => ask(request, signal, asking));
      queue = answer.catch(() => undefined);
      return answer;
    },
  };
}

export interface Asking {
  readonly out: Output;
  /** Cancels the run. While a question stands, the terminal hands over keys and no signals. */
  readonly interrupt: () => void;
}

async function ask(
  request: ApprovalRequest,
  signal: AbortSignal,
  { out, interrupt }: Asking,
): Promise<Awaited<ReturnType<Approver['ask']>>> {
  if (signal.aborted) return { decision: 'deny', by: 'terminal', reason: 'the run was cancelled' };
  const { confirm, isCancel } = await import('@clack/prompts');
  const release = out.hold();
  try {
    const answer = await confirm({
      message: question(request),
      active: 'Allow',
      inactive: 'Deny',
      initialValue: false,
      output: process.stderr,
      signal,
    });
    if (answer === true) return { decision: 'allow', by: 'terminal' };
    if (!isCancel(answer)) return { decision: 'deny', by: 'terminal', reason: 'denied at the terminal' };
  } finally {
    release();
  }
  if (!signal.aborted) interrupt();
  return { decision: 'deny', by: 'terminal', reason: 'the question was cancelled' };
}

function question({ tool, plugin, description, input, step, reason }: ApprovalRequest): string {
  return [
    `Step ${step}: ${visible(reason)}`,
    `${visible(tool)} (plugin ${visible(plugin)}): ${visible(description)}`,
    indent(fullValue(input)),
    'Allow exactly this call?',
  ].join('\n');
}
