/** A gate whose steps are not written down: what is left is what a call costs beside the journal. */
import { Approvals, nobody } from '../../packages/runtime/src/gate/approval.ts';
import { Gate } from '../../packages/runtime/src/gate/gate.ts';
import { LimitCounter } from '../../packages/runtime/src/gate/limits.ts';
import { liveSource } from '../../packages/runtime/src/gate/source.ts';
import type { Registry } from '../../packages/runtime/src/index.ts';

/** Everything that the gate does for a call but the digest and the events. */
export function unrecordedGate(registry: Registry): Gate {
  const view = { steps: [], approvals: [], step: () => undefined };
  const writer = { id: 'bench', view, append: () => {}, barrier: async () => {}, failed: undefined };
  let number = 0;
  const step = () => ({
    number: ++number,
    attempt: 0,
    effects: [] as unknown[],
    idempotencyKey: 'bench',
    async dispatch() {
      this.attempt++;
    },
    chunk() {},
    failAttempt() {},
    finish(outcome: object) {
      return { step: this.number, ...outcome };
    },
  });
  const recorder = {
    writer,
    view,
    digest: () => '',
    start: step,
    reopen: step,
    effect: (effect: unknown) => effect,
  };
  return new Gate({
    recorder: recorder as never,
    registry,
    source: liveSource,
    approvals: new Approvals(writer as never, nobody, {}),
    limits: new LimitCounter({ steps: Number.MAX_SAFE_INTEGER }, view as never, 1),
    retry: { attempts: 1, base_ms: 1 },
    workspace: '/',
    signal: new AbortController().signal,
    modelTimeoutMs: 60_000,
    secret: async () => '',
    model: () => ({ name: 'none', fallbacks: [], params: {} }),
    context: () => null,
  });
}

export async function callThrough(
  gate: Gate,
  name: string,
  input: { readonly text: string },
): Promise<unknown> {
  const outcome = await gate.step({ kind: 'tool', name, input, agent: 'main', turn: 1, parent: null });
  if (outcome.status !== 'ok') throw new Error(`${name} failed: ${outcome.error?.message}`);
  return outcome.output;
}
