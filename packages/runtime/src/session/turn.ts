/** One turn: the agent runs once, everything it does goes through the gate, and its end becomes plain data. */
import { ChassisError, ErrorCode, type ErrorRecord, toChassisError } from '@chassis/errors';
import type { Outcome as RunOutcome } from '@chassis/journal';
import type { Json } from '@chassis/types';
import { isUnavailable, type Registry } from '../capability.ts';
import { HostDesk } from '../gate/desk.ts';
import type { Gate } from '../gate/gate.ts';
import { newTraceId } from '../gate/recorder.ts';

export interface TurnResult {
  readonly turn: number;
  readonly outcome: RunOutcome;
  readonly answer?: string;
  readonly error?: ErrorRecord;
  /** The step whose failure ended the turn. */
  readonly failed_step?: number;
}

/** @throws the gate's fault: Diverged, or a journal that cannot write */
export async function runTurn(
  gate: Gate,
  registry: Registry,
  agent: string,
  turn: number,
  content: string,
): Promise<TurnResult> {
  const { signal, workspace, recorder, source } = gate.options;
  const session = recorder.writer.id;
  try {
    const binding = registry.resolveAgent(agent);
    if (isUnavailable(binding))
      throw new ChassisError('Unavailable', binding.cause.message, { data: { ...binding } });
    if (signal.aborted) throw new ChassisError('Cancelled', 'cancelled');
    const result = await binding.invoke({
      payload: { agent, input: { content, turn } },
      ctx: {
        session,
        step: 0,
        trace_id: newTraceId(),
        attempt: 1,
        idempotency_key: `${session}:turn:${turn}`,
        deadline: Number.MAX_SAFE_INTEGER,
        workspace,
      },
      signal,
      stop: signal,
      host: new HostDesk(gate, { agent: 'main', turn }, null, binding.plugin.name),
    });
    if (gate.fault !== undefined) throw gate.fault;
    if (result.code !== 0)
      throw new ChassisError(result.code, result.error?.message ?? 'the agent gave no reason', {
        data: result.error?.details,
      });
    source.finishTurn(turn);
    return { turn, outcome: 'ok', answer: answerOf(result.data) };
  } catch (thrown) {
    if (gate.fault !== undefined) throw gate.fault;
    const error = toChassisError(thrown);
    if (error.code === ErrorCode.Diverged) throw error;
    const outcome = signal.aborted || error.code === ErrorCode.Cancelled ? 'cancelled' : 'failed';
    if (outcome === 'failed') source.finishTurn(turn);
    const step = (error.data as { step?: unknown } | undefined)?.step;
    return {
      turn,
      outcome,
      error: error.record(),
      ...(typeof step === 'number' ? { failed_step: step } : {}),
    };
  }
}

function answerOf(data: Json): string {
  if (typeof data === 'string') return data;
  const answer = (data as { answer?: Json } | null)?.answer;
  return typeof answer === 'string' ? answer : JSON.stringify(data);
}
