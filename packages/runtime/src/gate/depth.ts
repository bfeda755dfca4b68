/**
 * Steps run inside of steps, but not for ever.
 *
 * Promise: a call that is already under way above itself, with the same arguments, is refused at once with the whole circle
 * named; one that changes its arguments each time is stopped at a depth.
 */
import { ChassisError } from '@chassis/errors';
import type { Step } from '@chassis/journal';
import type { Ask } from './ask.ts';

const MAX_DEPTH = 16;

/** @throws InvalidRequest */
export function checkDepth(ask: Ask, digest: string, stepOf: (number: number) => Step | undefined): void {
  const above: Step[] = [];
  for (let at = ask.parent; at !== null; ) {
    const step = stepOf(at);
    if (step === undefined) break;
    above.unshift(step);
    at = step.parent;
  }
  const first = above.findIndex(
    (step) => ask.kind === 'tool' && step.kind === 'tool' && step.name === ask.name && step.digest === digest,
  );
  if (first >= 0) {
    throw refusal(above.slice(first), ask, 'goes round in a circle with the same arguments');
  }
  if (above.length > MAX_DEPTH) {
    throw refusal(above, ask, `runs ${above.length} steps deep inside other steps; ${MAX_DEPTH} are allowed`);
  }
}

function refusal(above: readonly Step[], ask: Ask, why: string): ChassisError {
  const names = [...above.map((step) => step.name), ask.name];
  const path = names.length > 8 ? [...names.slice(0, 4), '…', ...names.slice(-3)] : names;
  return new ChassisError('InvalidRequest', `${ask.name} ${why}: ${path.join(' → ')}`, {
    data: { path: names, fix: 'end the recursion in the plugin that calls back' },
  });
}
