/** A step counts as successful, but its result says that it failed. */
import type { Step } from '@chassis/journal';
import { leavesOf } from '../json.ts';
import { opened } from '../opened.ts';
import { inputKey } from '../outcome.ts';
import { follow, lastKey } from '../pointer.ts';
import { isMostlySame } from './changed-retry.ts';
import { type Finding, failureInside, isWriting } from './looks.ts';
import type { Rule } from './rule.ts';

export const swallowedError: Rule = {
  name: 'swallowed-error',
  *find({ view, steps, tools, symptom }) {
    const calls = new Map(tools.map(({ name, calls: own }) => [name, own]));
    for (const step of steps) {
      const outer = step.error && step.parent !== null ? view.step(step.parent) : undefined;
      if (step.error && outer?.status === 'ok' && !isMadeGood(step, calls.get(step.name) ?? [])) {
        if (step.number === symptom.step) continue;
        const text = `${outer.name} :${outer.number} reported success, though ${step.name} failed inside it: ${step.error.message}`;
        yield { step: step.number, pointer: '/error/message', text, score: 0.7, kind: 'missing' };
        continue;
      }
      const found = failureInside(step) ?? changedNothing(step);
      if (!found || isEmptySearch(step)) continue;
      const value = follow(step, found.pointer);
      const text = `${step.name} reported success, its result says otherwise: ${found.text}`;
      yield {
        step: step.number,
        pointer: found.pointer,
        ...(value === undefined ? {} : { value }),
        text,
        score: isTriedAgain(step, calls.get(step.name) ?? []) ? 0.4 : 0.72,
        kind: 'missing',
      };
    }
  },
};

const affected =
  /^(?:affected|affected_?rows|rows_?affected|row_?count|changed|changes|modified|modified_?count|matched|matched_?count|updated|updated_?count|deleted|deleted_?count|inserted|inserted_?count|n_?modified)$/i;

/** A call that was to change something says that it has changed none. */
function changedNothing(step: Step): Finding | undefined {
  if (step.status !== 'ok' || !isWriting(step)) return undefined;
  const found = leavesOf(opened(step.output), '/output').find(
    ({ pointer, value }) => value === 0 && affected.test(lastKey(pointer)),
  );
  return found && { pointer: found.pointer, text: `${lastKey(found.pointer)} is 0` };
}

const searching = /(?:^|[^\p{L}])(?:grep|rg|ag|search|find|diff|cmp|which|test)(?:$|[^\p{L}])/iu;

/** A search that says nothing at all and ends with 1 has found nothing. */
function isEmptySearch({ name, input, output }: Step): boolean {
  const { exit_code: code, stdout, stderr } = (output ?? {}) as { [key: string]: unknown };
  if (code !== 1 || stdout !== '' || (stderr !== '' && stderr !== undefined)) return false;
  return searching.test(name) || leavesOf(input).some(({ text }) => searching.test(text.slice(0, 100)));
}

/** The same was asked again later, and given. */
function isMadeGood(step: Step, calls: readonly Step[]): boolean {
  const asked = inputKey(step);
  return calls.some(
    (other) => other.number > step.number && other.status === 'ok' && inputKey(other) === asked,
  );
}

/** The next call of the tool was nearly the same, and went well. */
function isTriedAgain(step: Step, calls: readonly Step[]): boolean {
  const next = calls[calls.indexOf(step) + 1];
  return next?.status === 'ok' && !failureInside(next) && isMostlySame(step, next);
}
