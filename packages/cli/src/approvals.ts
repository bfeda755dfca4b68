/**
 * Who is asked when a tool needs a person.
 *
 * Promise: a person sees the tool and its exact arguments, with nothing in them that could redraw the question; without a
 * terminal nobody is asked, and what needs a person is refused.
 */
import {
  type ApprovalRequest,
  type Approver,
  isUnavailable,
  type Registry,
  type SessionSettings,
} from '@chassis/runtime';
import type { Output } from './output.ts';
import { fullValue, indent } from './present/value.ts';
import { visible } from './terminal/text.ts';

/** @param asking what a question on the terminal has to do with the rest of the process */
export function approver(asking: Asking): Approver {
  if (!process.stdin.isTTY || !process.stderr.isTTY)
    return {
      ask: async (request) => ({ decision: 'deny', by: 'nobody', reason: withoutPerson(request, asking) }),
    };
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
  readonly registry: Pick<Registry, 'resolveTool' | 'plugins'>;
  readonly settings: Pick<SessionSettings, 'approval'>;
}

/** Whoever reads this has no way to say yes now: so it says how to say it beforehand. */
function withoutPerson({ tool }: ApprovalRequest, { registry, settings }: Asking): string {
  const nobody = 'there is nobody to ask';
  const binding = registry.resolveTool(tool);
  if (isUnavailable(binding)) return nobody;
  const { effects } = binding.definition;
  const mode = settings.approval[tool] ?? binding.definition.approval;
  // What is asked about a tool that need not ask is another question, which no option answers.
  if (mode === 'auto') return nobody;
  const isOwn = registry.plugins().find(({ name }) => name === binding.plugin.name)?.origin !== 'first-party';
  const harmless =
    settings.approval[tool] === undefined && isOwn && effects !== 'read' && effects !== 'none'
      ? '; a tool that only reads says effects: read (or none) in its plugin.yaml, and is not asked about'
      : '';
  return `${nobody}; allow it with --approve ${tool}${harmless}`;
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
