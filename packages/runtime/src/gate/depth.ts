/**
 * Steps run inside of steps, but not for ever.
 *
 * Promise: a call that is already under way above itself, with the same arguments, is refused at once with the whole circle
 * named; one that changes its arguments each time is stopped at a depth; one that would wait for itself does not wait.
 */
import { ChassisError } from '@chassis/errors';
import type { Step } from '@chassis/journal';
import type { ToolBinding, Unavailable } from '../capability.ts';
import type { Ask, ToolAsk } from './ask.ts';

const MAX_DEPTH = 16;

type StepOf = (number: number) => Step | undefined;

/** Steps that an ask is made within, the outermost first. */
function stepsAbove(ask: Ask, stepOf: StepOf): Step[] {
  const above: Step[] = [];
  for (let at = ask.parent; at !== null; ) {
    const step = stepOf(at);
    if (step === undefined) break;
    above.unshift(step);
    at = step.parent;
  }
  return above;
}

/**
 * A call that would wait for places which the calls around it hold, and so for itself.
 *
 * @throws InvalidRequest
 */
export function checkPlaces(
  ask: ToolAsk,
  { plugin, definition }: ToolBinding,
  stepOf: StepOf,
  resolve: (name: string) => ToolBinding | Unavailable,
): void {
  const places = definition.rate?.concurrency;
  if (places === undefined || ask.parent === null) return;
  const above = stepsAbove(ask, stepOf);
  const held = above.filter((step) => {
    if (step.kind !== 'tool' || step.plugin?.name !== plugin.name) return false;
    const known = resolve(step.name);
    return 'definition' in known && known.definition.name === definition.name;
  });
  if (held.length >= places)
    throw refusal(
      above,
      ask,
      `runs at most ${places} times at once and would wait for itself`,
      'raise rate.concurrency of the tool, or do not call it from within itself',
    );
}

/** @throws InvalidRequest */
export function checkDepth(ask: Ask, digest: string, stepOf: StepOf): void {
  const above = stepsAbove(ask, stepOf);
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

function refusal(
  above: readonly Step[],
  ask: Ask,
  why: string,
  fix = 'end the recursion in the plugin that calls back',
): ChassisError {
  const names = [...above.map((step) => step.name), ask.name];
  const path = names.length > 8 ? [...names.slice(0, 4), '…', ...names.slice(-3)] : names;
  return new ChassisError('InvalidRequest', `${ask.name} ${why}: ${path.join(' → ')}`, {
    data: { path: names, fix },
  });
}
