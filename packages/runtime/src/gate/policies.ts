/**
 * What plugins of kind policy say to a call before it runs: allow, ask, deny, or nothing.
 *
 * Promise: the strictest word holds, and it is on record with its reason before the call is dispatched. A policy that cannot
 * decide never counts as a yes: a guard's silence is a no, another's makes a person decide.
 */
import { ChassisError, toChassisError } from '@chassis/errors';
import type { Json, JsonObject, ToolDefinition } from '@chassis/types';
import type { HostCalls, PolicyBinding, ToolBinding } from '../capability.ts';
import { fullName, modelSafeName } from '../plugin/names.ts';
import type { ToolAsk } from './ask.ts';
import { attempt } from './attempt.ts';
import { newTraceId } from './recorder.ts';

export interface Verdict {
  readonly decision: 'allow' | 'ask' | 'deny';
  /** Names of the policies that said so. */
  readonly by: string;
  readonly reason: string;
}

export interface Judged {
  readonly ask: ToolAsk;
  readonly binding: ToolBinding;
  readonly step: number;
  readonly session: string;
  readonly workspace: string;
  readonly idempotencyKey: string;
  /** What holds without policies. */
  readonly approval: ToolDefinition['approval'];
  /** What a policy asks of the harness goes here. */
  host(policy: PolicyBinding): HostCalls;
}

/** Agent name of what a policy itself asks: it is not asked of policies again. */
export const POLICY_AGENT = 'policy';

const strictness = ['allow', 'ask', 'deny'] as const;

/** @returns undefined when no policy has anything to say @throws Cancelled */
export async function verdictOf(
  policies: readonly PolicyBinding[],
  judged: Judged,
  signal: AbortSignal,
): Promise<Verdict | undefined> {
  if (judged.ask.agent.split('/').includes(POLICY_AGENT)) return undefined;
  const concerned = policies.filter((policy) => concerns(policy, judged.binding));
  if (concerned.length === 0) return undefined;
  const said = await Promise.all(concerned.map((policy) => wordOf(policy, judged, signal)));
  if (signal.aborted) throw new ChassisError('Cancelled', 'cancelled');
  for (const decision of strictness.toReversed()) {
    const same = said.filter((word) => word?.decision === decision) as Verdict[];
    if (same.length === 0) continue;
    return {
      decision,
      by: same.map(({ by }) => by).join(', '),
      reason: [...new Set(same.map(({ reason }) => reason).filter((reason) => reason !== ''))].join('; '),
    };
  }
  return undefined;
}

/** A policy names the tools that it is about as `tools.approval` does; without names it is about all. */
function concerns({ tools }: PolicyBinding, { plugin, definition, name }: ToolBinding): boolean {
  if (tools.length === 0) return true;
  const short = definition.name;
  const names = [name, short, fullName(plugin.name, short), modelSafeName(plugin.name, short)];
  return tools.some((pattern) =>
    pattern.endsWith('*')
      ? names.some((one) => one.startsWith(pattern.slice(0, -1)))
      : names.includes(pattern),
  );
}

async function wordOf(
  policy: PolicyBinding,
  judged: Judged,
  signal: AbortSignal,
): Promise<Verdict | undefined> {
  const { ask, binding, step, session, workspace, idempotencyKey, approval } = judged;
  const { definition } = binding;
  const input: JsonObject = {
    tool: binding.name,
    plugin: binding.plugin.name,
    description: definition.description,
    arguments: ask.input,
    effects: definition.effects,
    idempotent: definition.idempotent,
    approval,
    agent: ask.agent,
    turn: ask.turn,
  };
  try {
    const { data } = await attempt(
      policy,
      // In the harness it goes by plugin and name; the plugin knows it by its own.
      { policy: policy.name.slice(policy.name.lastIndexOf('.') + 1), input },
      {
        session,
        step,
        trace_id: newTraceId(),
        attempt: 1,
        idempotency_key: `${idempotencyKey}:${policy.name}`,
        workspace,
      },
      judged.host(policy),
      policy.timeout_ms,
      signal,
    );
    return read(policy, data);
  } catch (thrown) {
    const cause = toChassisError(thrown).message;
    return {
      decision: policy.guard ? 'deny' : 'ask',
      by: policy.name,
      reason: `the policy ${policy.name} of plugin ${policy.plugin.name} could not decide: ${cause}`,
    };
  }
}

/** @throws InvalidOutput for anything but a decision */
function read({ name }: PolicyBinding, data: Json): Verdict | undefined {
  if (data === null) return undefined;
  const { decision, reason } =
    typeof data === 'string' ? { decision: data, reason: '' } : (data as { decision?: Json; reason?: Json });
  if (decision === 'allow' || decision === 'ask' || decision === 'deny')
    return { decision, by: name, reason: typeof reason === 'string' ? reason : '' };
  throw new ChassisError(
    'InvalidOutput',
    `it answered ${JSON.stringify(decision)?.slice(0, 100)}; a policy answers allow, ask, deny, { decision, reason }, or nothing`,
  );
}
