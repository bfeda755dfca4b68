/** What one turn may use up. Checked before each step; a limit that is reached refuses the step, it never cuts one. */
import { ChassisError } from '@chassis/errors';
import type { SessionView } from '@chassis/journal';
import type { Usage } from '@chassis/types';

export interface Limits {
  readonly steps: number;
  /** Input and output tokens together. */
  readonly tokens?: number;
  readonly cost_usd?: number;
  readonly minutes?: number;
}

/** Counts what one turn has used. A turn that is taken up again starts with what its record shows. */
export class LimitCounter {
  readonly #limits: Limits;
  readonly #started = performance.now();
  #steps = 0;
  #tokens = 0;
  #cost = 0;

  constructor(limits: Limits, view: SessionView, turn: number) {
    this.#limits = limits;
    for (const step of view.steps) {
      if (step.turn !== turn) continue;
      this.#steps++;
      this.count(step.usage);
      for (const attempt of step.attempts) if (attempt.error !== undefined) this.count(attempt.usage);
    }
  }

  count(usage: Pick<Usage, 'input' | 'output' | 'cost_usd'> | null | undefined): void {
    if (usage === null || usage === undefined) return;
    this.#tokens += usage.input + usage.output;
    this.#cost += usage.cost_usd ?? 0;
  }

  /**
   * Takes a step into account.
   * @param known the step is counted already, from the record
   * @throws BudgetExceeded with the limit, its value and what has been used
   */
  admit(known: boolean): void {
    if (!known) this.#steps++;
    const { steps, tokens, cost_usd, minutes } = this.#limits;
    if (this.#steps > steps) refuse('steps', steps, this.#steps - 1);
    if (tokens !== undefined && this.#tokens >= tokens) refuse('tokens', tokens, this.#tokens);
    if (cost_usd !== undefined && this.#cost >= cost_usd) refuse('cost_usd', cost_usd, this.#cost);
    const used = (performance.now() - this.#started) / 60_000;
    if (minutes !== undefined && used >= minutes) refuse('minutes', minutes, used);
  }
}

function refuse(limit: string, allowed: number, used: number): never {
  throw new ChassisError('BudgetExceeded', `limits.${limit} is reached: ${round(used)} of ${allowed}`, {
    data: { limit, allowed, used, fix: `raise it with --config limits.${limit}=…, then resume` },
  });
}

function round(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}
