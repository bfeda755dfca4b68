/**
 * What a bad value of a cause should be, where the record says it: a number that was written as text, an empty mark where
 * nothing is allowed.
 *
 * Promise: a value that is given is another than the one on record, and follows from it; what must be known from elsewhere is
 * left open.
 */
import type { SessionView } from '@chassis/journal';
import type { Json } from '@chassis/types';
import { numberReadings } from './numbers.ts';
import { follow } from './pointer.ts';
import { issuesOf } from './statuses.ts';
import type { Why } from './why.ts';

export interface Correction {
  readonly step: number;
  readonly pointer: string;
  /** Absent when the record does not tell it. */
  readonly value?: Json;
}

const most = 4;

/** The bad values in the result of the cause, the one of the cause first; empty when it is no tool's result. */
export function corrections(view: SessionView, { cause, also }: Why): Correction[] {
  if (cause === undefined || cause.kind !== 'tool') return [];
  const step = view.step(cause.step);
  const bad = [cause, ...also.filter((note) => note.step === cause.step && note.value !== undefined)];
  const found = new Map<string, Correction>();
  for (const { pointer, text, value } of bad) {
    if (pointer === undefined || !pointer.startsWith('/output')) continue;
    const written = follow(step, pointer);
    // A whole result is nothing to be put right in one word.
    if (written === undefined || (typeof written === 'object' && written !== null)) continue;
    if (typeof written === 'string' && written.length > 80) continue;
    // A mark is true as it is: what it speaks of is elsewhere. And a part of a text is not put right as a whole.
    if (typeof written === 'boolean' || (typeof value === 'string' && String(written) !== value)) continue;
    const right = rightValue(view, written, text);
    found.set(pointer, { step: cause.step, pointer, ...(right === undefined ? {} : { value: right }) });
    if (found.size >= most) break;
  }
  return [...found.values()];
}

function rightValue(view: SessionView, written: Json, said: string): Json | undefined {
  if (typeof written !== 'string') return undefined;
  const expected = expectedFor(view, written, said);
  if (!expected.includes('number')) return undefined;
  const [reading, ...more] = numberReadings(written.replaceAll(/^[^\d-]+|[^\d]+$/g, ''));
  if (reading !== undefined) return more.length === 0 ? Number(reading) : undefined;
  return expected.includes('null') ? null : undefined;
}

/** What is said to be expected where the value stands, or where it went. */
function expectedFor(view: SessionView, written: string, said: string): string {
  const quoted = JSON.stringify(written);
  for (let number = view.steps.length; number > 0; number--) {
    const issue = issuesOf(view.step(number)?.error).find(({ received }) => received?.includes(quoted));
    if (issue) return issue.expected ?? '';
  }
  return / are numbers\b/.test(said) ? 'a number' : '';
}
