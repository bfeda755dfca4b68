/**
 * What led to a step when the agent does not say so itself: a tool call follows the agent's latest model call, a model call
 * follows everything that came since the one before.
 */
import type { Ask, Outcome } from './ask.ts';

interface Trail {
  model: number | null;
  since: number[];
}

export class CauseTracker {
  readonly #trails = new Map<string, Trail>();

  of(ask: Ask): readonly number[] {
    const trail = this.#trails.get(keyOf(ask));
    const own =
      trail === undefined
        ? []
        : ask.kind === 'model'
          ? trail.since
          : trail.model === null
            ? []
            : [trail.model];
    return own.length === 0 && ask.parent !== null ? [ask.parent] : [...own];
  }

  seen(ask: Ask, outcome: Outcome): Outcome {
    const key = keyOf(ask);
    const trail = this.#trails.get(key) ?? { model: null, since: [] };
    if (ask.kind === 'model') {
      trail.model = outcome.step;
      trail.since = [outcome.step];
    } else if (trail.since[0] === trail.model) trail.since = [outcome.step];
    else trail.since.push(outcome.step);
    this.#trails.set(key, trail);
    return outcome;
  }
}

function keyOf(ask: Ask): string {
  return `${ask.parent ?? ''}/${ask.agent}`;
}
