/**
 * Who is asked when a tool needs a person.
 *
 * Promise: a person sees the tool and its exact arguments, with nothing in them that could redraw the question; without a
 * terminal nobody is asked, and what needs a person is refused.
 */
import { type ApprovalRequest, type Approver, nobody } from '@chassis/runtime';
import { fullValue, indent } from './present/value.ts';
import { visible } from './terminal/text.ts';

export function approver(): Approver {
  return process.stdin.isTTY && process.stderr.isTTY ? terminal : nobody;
}

/** One question at a time: calls may run in parallel, a person does not. */
let queue: Promise<unknown> = Promise.resolve();

const terminal: Approver = {
  ask: (request, signal) => {
    const answer = queue.then(() => ask(request, signal));
    queue = answer.catch(() => undefined);
    return answer;
  },
};

async function ask(
  request: ApprovalRequest,
  signal: AbortSignal,
): Promise<{ decision: 'allow' | 'deny'; by: string; reason?: string }> {
  const { confirm, isCancel } = await import('@clack/prompts');
  const answer = await confirm({
    message: question(request),
    active: 'Allow',
    inactive: 'Deny',
    initialValue: false,
    output: process.stderr,
    signal,
  });
  if (isCancel(answer)) return { decision: 'deny', by: 'terminal', reason: 'the question was cancelled' };
  return answer
    ? { decision: 'allow', by: 'terminal' }
    : { decision: 'deny', by: 'terminal', reason: 'denied at the terminal' };
}

function question({ tool, plugin, description, input, step, reason }: ApprovalRequest): string {
  return [
    `Step ${step}: ${visible(reason)}`,
    `${visible(tool)} (plugin ${visible(plugin)}): ${visible(description)}`,
    indent(fullValue(input)),
    'Allow exactly this call?',
  ].join('\n');
}
