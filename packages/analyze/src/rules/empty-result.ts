/** A result holds nothing where the same tool's other results hold something, or nothing at all. */
import type { Step } from '@chassis/journal';
import type { Json } from '@chassis/types';
import { leavesOf } from '../json.ts';
import { sameName } from '../names.ts';
import { lastKey, nameOf } from '../pointer.ts';
import type { Rule } from './rule.ts';

export const emptyResult: Rule<boolean> = {
  name: 'empty-result',
  see({ kind, status }, output) {
    return kind === 'tool' && status === 'ok' && isEmpty(output) ? true : undefined;
  },
  *find({ tools, symptom, traces }, seen) {
    const wanted = traces.map(({ complaint }) => nameOf(complaint.place.pointer));
    for (const { name, calls, columns } of tools) {
      // That a search finds nothing is usual; it matters where the others have what the failure is about.
      const matters = columns.some((column) => wanted.some((one) => sameName(one, column.name)));
      const full = calls.filter(({ status, number }) => status === 'ok' && !seen.has(number)).length;
      for (const step of calls) {
        if (!seen.has(step.number) || step.number === symptom.step || acts(step)) continue;
        // No text at all, where all others have one, is no search that found nothing.
        const bare =
          full >= 2 && isBare(step.output) && calls.filter(({ number }) => seen.has(number)).length === 1;
        const text =
          full > 0 ? `${name} gave nothing here; ${full} other calls gave something` : `${name} gave nothing`;
        yield {
          step: step.number,
          pointer: '/output',
          text,
          score: bare ? 0.6 : matters ? 0.58 : calls.length <= few ? 0.4 : 0.2,
          kind: 'missing',
        };
      }
    }
  },
};

/** A tool that is asked time and again finds nothing now and then. */
const few = 4;

function isBare(output: Json | undefined): boolean {
  return output === undefined || output === null || output === '';
}

const counts = /count|total|found|hits|matches|results|rows|length|size/i;

function isEmpty(output: Json | undefined): boolean {
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
