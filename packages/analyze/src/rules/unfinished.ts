/** What was read was not done yet: a job still at work, a figure of low confidence, and the run went on with it. */
import type { Json } from '@chassis/types';
import { type Leaf, outputLeaves } from '../json.ts';
import { inputKey } from '../outcome.ts';
import { lastKey } from '../pointer.ts';
import { brief } from './looks.ts';
import type { Rule } from './rule.ts';

const stateName = /^(?:state|status|phase|stage)$/i;
const atWork =
  /^(?:running|pending|queued|in[_ -]?progress|processing|started|starting|building|syncing|importing|indexing|creating|provisioning|partial|incomplete|scheduled|deferred|laufend|处理中)$/i;
const shareName = /^(?:progress|percent_?(?:done|complete)|completion|completed_?share)$/i;
const trustName = /^(?:confidence|certainty|probability|match_?score|similarity)$/i;
const mostLeaves = 60;
const lowTrust = 0.6;

export const unfinished: Rule<Leaf> = {
  name: 'unfinished',
  see({ kind, status }, output) {
    return kind === 'tool' && status === 'ok' ? markIn(output) : undefined;
  },
  *find({ tools, symptom }, seen) {
    for (const { name, calls } of tools)
      for (const [index, step] of calls.entries()) {
        const mark = seen.get(step.number);
        if (!mark || step.number >= symptom.step) continue;
        // Who asked again and got another answer has waited.
        const again = calls
          .slice(index + 1)
          .some((later) => inputKey(later) === inputKey(step) && later.status === 'ok');
        if (again) continue;
        const low = trustName.test(lastKey(mark.pointer));
        const what = `${lastKey(mark.pointer)} is ${brief(mark.value)}`;
        const text = low
          ? `${name} was not sure of it: ${what}`
          : `${name} was not done: ${what}, and it was not asked again`;
        yield {
          step: step.number,
          pointer: mark.pointer,
          value: mark.value,
          text,
          score: low ? 0.66 : 0.62,
          kind: 'missing',
        };
      }
  },
};

function markIn(output: Json | undefined): Leaf | undefined {
  if (typeof output !== 'object' || output === null || Array.isArray(output)) return undefined;
  return outputLeaves(output)
    .slice(0, mostLeaves)
    .find(({ pointer, value, text }) => {
      const name = lastKey(pointer);
      // In a list of jobs it is what a reader asked for.
      if (/\/\d+\//.test(pointer)) return false;
      if (stateName.test(name)) return atWork.test(text);
      if (typeof value !== 'number') return false;
      if (shareName.test(name)) return value > 0 && value < 1;
      return trustName.test(name) && value >= 0 && value < lowTrust;
    });
}
