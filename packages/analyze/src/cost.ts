/**
 * What a run cost: tokens and US dollars by model and by step, with every attempt that was cut or repeated.
 *
 * Promise: nothing unknown is counted as nothing. An attempt without usage is a request of unknown size, a price that is
 * not known stays `null`, and a sum that leaves something out says that it is a lower bound.
 */
import type { SessionView, Step } from '@chassis/journal';
import type { Usage } from '@chassis/types';

/** Sums over model requests. `input` counts all prompt tokens, `cached` those of them read from a cache. */
export interface Cost {
  /** Attempts that were sent, failed and cut ones included. */
  readonly requests: number;
  readonly input: number;
  readonly cached: number;
  readonly output: number;
  readonly reasoning: number;
  /** US dollars of the requests whose price is known; null when there are requests and no price is. */
  readonly cost_usd: number | null;
  /** Requests whose usage the provider did not report. */
  readonly unknown_usage: number;
  /** Requests with usage but without a price. */
  readonly unknown_price: number;
  /** True when there may have been more: cut calls, unknown usage, or (for the money) unknown prices. */
  readonly lower_bound: boolean;
  /** True when a provider's figures contradict each other. */
  readonly inconsistent: boolean;
}

export interface StepCost extends Cost {
  readonly step: number;
  readonly models: readonly string[];
}

export interface RunCost {
  readonly total: Cost;
  /** By the provider model that was asked, in the order of first use. */
  readonly models: readonly (Cost & { readonly model: string })[];
  readonly steps: readonly StepCost[];
}

interface Sent {
  readonly model: string;
  readonly usage: Usage | null;
}

/** The cost of all model steps of a session, as one sum. */
export function totalCost(view: SessionView): Cost {
  const sent: Sent[] = [];
  for (const step of view.steps) if (step.kind === 'model') sent.push(...requestsOf(step));
  return sum(sent);
}

/** The cost of all model steps of a session. */
export function cost(view: SessionView): RunCost {
  const steps = view.steps
    .filter(({ kind }) => kind === 'model')
    .map((step) => ({ step: step.number, sent: requestsOf(step) }))
    .filter(({ sent }) => sent.length > 0);
  const sent = steps.flatMap((step) => step.sent);
  const models = Map.groupBy(sent, ({ model }) => model);
  return {
    total: sum(sent),
    models: [...models].map(([model, of]) => ({ model, ...sum(of) })),
    steps: steps.map(({ step, sent: of }) => ({
      step,
      models: [...new Set(of.map(({ model }) => model))],
      ...sum(of),
    })),
  };
}

/** One entry an attempt: the failed ones have their own usage, the last one's is the step's. */
function requestsOf(step: Step): Sent[] {
  const [only] = step.attempts;
  if (only && step.attempts.length === 1 && only.error === undefined)
    return [{ model: only.model ?? step.name, usage: step.usage ?? only.usage ?? null }];
  const failed = step.attempts.filter(({ error }) => error !== undefined);
  const last = step.attempts.findLast(({ error }) => error === undefined);
  const sent = failed.map(({ model, usage }): Sent => ({ model: model ?? step.name, usage: usage ?? null }));
  const finished = step.usage !== undefined || (step.status === 'ok' && step.attempts.length === 0);
  if (!last && !finished) return sent;
  return [...sent, { model: last?.model ?? step.name, usage: step.usage ?? last?.usage ?? null }];
}

function sum(requests: readonly Sent[]): Cost {
  const total = { input: 0, cached: 0, output: 0, reasoning: 0, unknown_usage: 0, unknown_price: 0 };
  const prices: number[] = [];
  let [lower_bound, inconsistent] = [false, false];
  for (const { usage } of requests) {
    if (usage === null) {
      total.unknown_usage++;
      continue;
    }
    total.input += usage.input;
    total.cached += usage.cached;
    total.output += usage.output;
    total.reasoning += usage.reasoning;
    if (usage.cost_usd == null) total.unknown_price++;
    else prices.push(usage.cost_usd);
    lower_bound ||= usage.lower_bound === true;
    inconsistent ||= usage.inconsistent === true;
  }
  return {
    requests: requests.length,
    ...total,
    cost_usd: prices.length === 0 && requests.length > 0 ? null : exactSum(prices),
    lower_bound: total.unknown_usage > 0 || total.unknown_price > 0 || lower_bound,
    inconsistent,
  };
}

/** A sum without the noise of binary fractions: to a billionth of a dollar. */
function exactSum(prices: readonly number[]): number {
  return Math.round(prices.reduce((total, price) => total + price, 0) * 1e9) / 1e9;
}
