/**
 * A re-execution that can be watched: answers at the pace of the record, each told as it is given.
 *
 * Promise: the order of the answers is that of the record; the pause before a turn is not waited for.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { ChassisError } from '@chassis/errors';
import type { Step } from '@chassis/journal';
import type { Recalled, Source } from '../gate/source.ts';

export interface Watching {
  /** Gives the answers at the pace of the record: 1 as fast as it was, 10 ten times as fast. At once without it. */
  readonly speed?: number;
  /** Called when a step has been answered. */
  readonly onStep?: (step: Step) => void;
}

export function isWatched({ speed, onStep }: Watching): boolean {
  return speed !== undefined || onStep !== undefined;
}

/** The same source, slowed down and watched. @throws Cancelled while it waits and the signal aborts */
export function paced(source: Source, { speed, onStep }: Watching, signal: AbortSignal): Source {
  /** End of the latest answer, on the clock of the record and on ours. */
  let recorded = 0;
  let given = 0;
  let turn = 0;
  const due = (step: Step): number => {
    const end = step.started + (step.duration_ms ?? 0);
    if (step.turn !== turn || given === 0) {
      turn = step.turn;
      recorded = step.started;
      given = performance.now();
    }
    given += Math.max(0, end - recorded) / (speed ?? Number.POSITIVE_INFINITY);
    recorded = Math.max(recorded, end);
    return given;
  };
  const tell = async (recalled: Recalled): Promise<Recalled> => {
    if (recalled.kind !== 'answer') return recalled;
    const wait = due(recalled.step) - performance.now();
    if (wait > 0)
      await sleep(wait, undefined, { signal }).catch(() => {
        throw new ChassisError('Cancelled', 'the replay was cancelled');
      });
    onStep?.(recalled.step);
    return recalled;
  };
  return {
    holds: (ask, digest) => source.holds(ask, digest),
    recall: async (ask, digest) => tell(await source.recall(ask, digest)),
    recallValue: (...read) => source.recallValue(...read),
    finishTurn: (at) => source.finishTurn(at),
  };
}
