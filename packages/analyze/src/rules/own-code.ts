/** The failed tool's own code broke: an exception that nobody foresaw, not a refusal of what it was given. */
import { ErrorCode } from '@chassis/errors';
import type { Step } from '@chassis/journal';
import { follow } from '../pointer.ts';
import { issuesOf } from '../statuses.ts';
import { amongNumbers } from '../symptom.ts';
import { isAboutValue, isUnknownThing } from './looks.ts';
import type { Rule } from './rule.ts';

/** Words of language run-times for mistakes in a program. */
const mistake =
  /\b(?:Attribute|Name|Type|Key|Index|Import|ModuleNotFound|UnboundLocal|Recursion|Assertion|NotImplemented|ZeroDivision|Reference|Range|Syntax)Error\b|^Cannot (?:read|set) propert|is not (?:a function|defined|iterable|a constructor)|before initialization|Maximum call stack/;

export const ownCode: Rule = {
  name: 'own-code',
  *find({ view, symptom, traces }) {
    const step = view.step(symptom.step);
    const text = step && crashText(step);
    if (text === undefined) return;
    const { message = '' } = step?.error ?? {};
    // A tool may raise a plain exception to say that it does not like a value, or knows no such thing.
    const named = traces.some(({ complaint }) => complaint.kind === 'direct');
    const complains = named || isUnknownThing(message) || isAboutValue(message);
    const placed = follow(step?.error?.data, '/place') !== undefined;
    // Code that adds up a list fails over the one text in it.
    const given = traces.some(({ complaint }) => complaint.text === amongNumbers);
    const score = given
      ? 0.57
      : mistake.test(message)
        ? 0.78
        : placed && !complains
          ? 0.57
          : placed
            ? 0.5
            : 0.15;
    yield { step: symptom.step, pointer: '/error/message', text, score, kind: 'act' };
  },
};

/** What is to be said of a tool whose own code failed; undefined for any other step. */
export function crashText({ kind, name, error }: Step): string | undefined {
  if (kind !== 'tool' || error?.code !== ErrorCode.InternalError || issuesOf(error).length > 0)
    return undefined;
  const place = follow(error.data, '/place');
  const said = typeof place === 'string' ? error.message.replace(` (${place})`, '') : error.message;
  return `the own code of ${name} failed: ${said}${typeof place === 'string' ? `, at ${place}` : ''}`;
}
