/** Expectations as a session meets them now: a first draft, for a person to loosen or tighten. */
import { cost } from '@chassis/analyze';
import type { SessionView } from '@chassis/journal';
import { filesAt } from '@chassis/runtime';
import type { Expectations, Spec } from './spec.ts';

export function draftSpec(view: SessionView, name: string, recording: string): Spec {
  return {
    name,
    recording,
    input: view.turns.map((turn) => turn.input),
    normalise: ['paths', 'durations', 'ids'],
    expect: draftExpectations(view),
  };
}

/** What a session meets now. */
export function draftExpectations(view: SessionView): Expectations {
  const called = view.steps.filter((step) => step.kind === 'tool').map((step) => step.name);
  const files = filesAt(view, view.steps.length).filter(({ content }) => !content?.startsWith('keyed:'));
  const answer = view.turns.at(-1)?.answer;
  const { input, output } = cost(view).total;
  const { outcome } = view;
  return {
    ...(outcome === 'ok' || outcome === 'failed' || outcome === 'cancelled' ? { outcome } : {}),
    tools: {
      includes: [...new Set(called)],
      forbids: [],
      // A call that only repeats the one before says nothing about the order.
      order: called.filter((tool, at) => tool !== called[at - 1]),
      max_calls: called.length,
    },
    files: Object.fromEntries(files.map(({ path, content }) => [path, content])),
    ...(answer === undefined ? {} : { final: { equals: answer } }),
    cost: { tokens: Math.ceil((input + output) * 1.2), steps: view.steps.length },
    never: ['repeated-call', 'no-progress'],
  };
}
