/**
 * What one turn may use up. Checked before each step, for a model request with what it will probably use; a limit
 * that is reached refuses the step, it never cuts one.
 */
import { ChassisError } from '@chassis/errors';
import { type SessionView, stepsFrom } from '@chassis/journal';
import type { Usage } from '@chassis/types';
import type { Ask } from './ask.ts';

export interface Limits {
  readonly steps: number;
  /** Input and output tokens together. */
  readonly tokens?: number;
  readonly cost_usd?: number;
  readonly minutes?: number;
  /** How often the same call may give the same result before somebody is asked; 8 without it. */
  readonly repeats?: number;
}

type LimitName = 'steps' | 'tokens' | 'cost_usd' | 'minutes';

/** A limit that the next step would go beyond. */
export interface Reached {
  readonly limit: LimitName;
  readonly allowed: number;
  readonly used: number;
  /** What the next request will probably use; 0 when nothing is known of it. */
  readonly projected: number;
}

/** Counts what one turn has used. A turn that is taken up again starts with what its record shows. */
export class LimitCounter {
  readonly #limits: Limits;
  readonly #raised = new Map<LimitName, number>();
  readonly #started = performance.now();
  #steps = 0;
  #tokens = 0;
  #cost = 0;
  /** Requests whose usage is known, and the last of them: what the next one will probably use is like it. */
  #requests = 0;
  #output = 0;
  #last = 0;

  constructor(limits: Limits, view: SessionView, turn: number) {
    this.#limits = limits;
    for (const step of stepsFrom(view, turn)) {
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
    this.#requests++;
    this.#output += usage.output;
    this.#last = usage.input;
  }

  /**
   * Takes a step into account.
   * @param known the step is counted already, from the record
   * @returns the first limit that it goes beyond; null when there is none
   */
  admit(known: boolean, ask: Pick<Ask, 'kind'>): Reached | null {
    if (!known) this.#steps++;
    const minutes = (performance.now() - this.#started) / 60_000;
    const tokens = ask.kind === 'model' ? this.#projected() : 0;
    const cost = this.#tokens === 0 ? 0 : (this.#cost / this.#tokens) * tokens;
    return (
      this.#beyond('steps', this.#steps - 1, 1) ??
      this.#beyond('tokens', this.#tokens, tokens) ??
      this.#beyond('cost_usd', this.#cost, cost) ??
      this.#beyond('minutes', minutes, 0)
    );
  }

  /** Somebody said that the run may go on: as much again. */
  raise(limit: LimitName): void {
    this.#raised.set(limit, (this.#raised.get(limit) ?? 0) + (this.#limits[limit] ?? 0));
  }

  /** A request repeats the conversation, so it takes at least what the last one took, and an answer of the usual length. */
  #projected(): number {
    return this.#requests === 0 ? 0 : this.#last + this.#output / this.#requests;
  }

  #beyond(limit: LimitName, used: number, projected: number): Reached | null {
    const given = this.#limits[limit];
    if (given === undefined) return null;
    const allowed = given + (this.#raised.get(limit) ?? 0);
    const full = limit === 'steps' ? used >= allowed : used >= allowed || used + projected > allowed;
    return full ? { limit, allowed, used, projected } : null;
  }
}

export function limitError({ limit, allowed, used, projected }: Reached): ChassisError {
  const next = used >= allowed ? '' : `, and the next request would take about ${round(projected)}`;
  return new ChassisError(
    'BudgetExceeded',
    `limits.${limit} is reached: ${round(used)} of ${allowed}${next}`,
    {
      data: { limit, allowed, used, projected, fix: `raise it with --config limits.${limit}=…, then resume` },
    },
  );
}

function round(value: number): number {
  return Math.round(value * 10_000) / 10_000;
}
