/** A call was given several things and its result speaks of all but some of them. */
import type { Json } from '@chassis/types';
import { leavesOf, outputLeaves } from '../json.ts';
import { pointer } from '../pointer.ts';
import { brief } from './looks.ts';
import type { Rule } from './rule.ts';

const least = 2;
const most = 500;

interface Missing {
  readonly texts: readonly string[];
  readonly of: number;
  readonly pointer: string;
}

export const leftOut: Rule<Missing> = {
  name: 'left-out',
  see(step, output) {
    return step.kind === 'tool' && step.status === 'ok' ? missingIn(step.input, output) : undefined;
  },
  *find({ tools, symptom }, seen) {
    for (const { name, fresh } of tools)
      for (const step of fresh) {
        const missing = seen.get(step.number);
        if (!missing) continue;
        const { texts, of, pointer } = missing;
        const named = texts.some((text) => symptom.text.includes(text));
        const text = `${name} was given ${of}, and its result leaves out ${texts.map((one) => brief(one)).join(', ')}`;
        yield { step: step.number, pointer, text, score: named ? 0.8 : 0.6, kind: 'missing' };
      }
  },
};

function missingIn(input: Json, output: Json | undefined): Missing | undefined {
  if (typeof input !== 'object' || input === null || typeof output !== 'object' || output === null)
    return undefined;
  for (const list of Object.values(input)) {
    if (!Array.isArray(list) || list.length < least || list.length > most) continue;
    const given = (list as readonly unknown[])
      .filter((item) => typeof item === 'string' || typeof item === 'number')
      .map(String);
    if (given.length !== list.length || new Set(given).size !== given.length) continue;
    // What is told of elsewhere in the result is not left out.
    const said = new Set(outputLeaves(output).map(({ text }) => text));
    for (const [key, result] of Object.entries(output)) {
      if (typeof result !== 'object' || result === null) continue;
      const there = new Set(leavesOf(result).map(({ text }) => text));
      if (!Array.isArray(result)) for (const name of Object.keys(result)) there.add(name);
      const texts = given.filter((one) => !there.has(one) && !said.has(one));
      // Most of them are there: it is these that the result speaks of.
      if (texts.length > 0 && texts.length * 2 <= given.length)
        return {
          texts: texts.slice(0, 3),
          of: given.length,
          pointer: `/output${pointer(key)}`,
        };
    }
  }
  return undefined;
}
