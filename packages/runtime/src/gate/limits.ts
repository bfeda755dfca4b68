/** What a run may use up. Checked before each step; a limit that is reached refuses the step, it never cuts one. */
import { ChassisError } from '@chassis/errors';
import type { SessionView } from '@chassis/journal';

export interface Limits {
  readonly steps: number;
  /** Input and output tokens together. */
  readonly tokens?: number;
  readonly cost_usd?: number;
  readonly minutes?: number;
}

/** Counts what one run of this process has used. A resumed session starts with what its record shows. */
export class LimitCounter {
  readonly #limits: Limits;
  readonly #started = performance.now();
  #tokens = 0;
  #cost = 0;

  constructor(limits: Limits, view: SessionView) {
    this.#limits = limits;
    for (const step of view.steps) {
      this.count(step.usage);
      for (const attempt of step.attempts) if (attempt.error !== undefined) this.count(attempt.usage);
    }
  }

  count(
    usage: { readonly input: number; readonly output: number; readonly cost_usd?: number } | null | undefined,
  ): void {
    if (usage === null || usage === undefined) return;
    this.#tokens += usage.input + usage.output;
    this.#cost += usage.cost_usd ?? 0;
  }

  /** @throws BudgetExceeded with the limit, its value and what has been used */
  check(stepsSoFar: number): void {
    const { steps, tokens, cost_usd, minutes } = this.#limits;
    if (stepsSoFar >= steps) refuse('steps', steps, stepsSoFar);
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
