/** A result holds nothing where the same tool's other results hold something, or nothing at all. */
import type { Step } from '@chassis/journal';
import { leavesOf } from '../json.ts';
import { lastKey } from '../pointer.ts';
import { type Rule, toolsOf } from './rule.ts';

export const emptyResult: Rule = {
  name: 'empty-result',
  *find({ steps, symptom }) {
    for (const { name, calls } of toolsOf(steps)) {
      const full = calls.filter((step) => step.status === 'ok' && !isEmpty(step)).length;
      for (const step of calls) {
        if (step.status !== 'ok' || step.number === symptom.step || !isEmpty(step) || acts(step)) continue;
        const text =
          full > 0 ? `${name} gave nothing here; ${full} other calls gave something` : `${name} gave nothing`;
        yield { step: step.number, pointer: '/output', text, score: full > 0 ? 0.58 : 0.45, kind: 'missing' };
      }
    }
  },
};

const counts = /count|total|found|hits|matches|results|rows|length|size/i;

function isEmpty({ output }: Step): boolean {
  if (output === undefined || output === null || output === '') return true;
  if (typeof output !== 'object') return false;
  for (const value of Object.values(output)) {
    if (Array.isArray(value) && value.some(isSomething)) return false;
  }
  const lists = Object.values(output).some((value) => Array.isArray(value) && value.length === 0);
  const rest = leavesOf(output).filter(
    ({ pointer, value, text }) =>
      value !== null && text !== '' && value !== false && !(text === '0' && counts.test(lastKey(pointer))),
  );
  return (
    rest.length === 0 ||
    (lists &&
      !Object.values(output).some((value) => Array.isArray(value) && value.length > 0) &&
      rest.length <= 2)
  );
}

/** Whether an item alone makes a result full, which most results show at once. */
function isSomething(item: unknown): boolean {
  if (typeof item === 'string') return item !== '';
  if (typeof item !== 'object' || item === null || Array.isArray(item)) return false;
  for (const key in item) {
    const value = (item as { [key: string]: unknown })[key];
    if (typeof value === 'string' && value !== '') return true;
  }
  return false;
}

/** What only acts on the world has nothing to tell. */
function acts(step: Step): boolean {
  return step.effects.length > 0;
}
