/** The model wrote a call that the tool cannot take, or of a tool that it was not offered: the failure itself says so. */
import { type Misfit, misfitOf } from '../misfit.ts';
import type { Rule } from './rule.ts';

const mostNames = 8;

export const unfitCall: Rule = {
  name: 'unfit-call',
  *find({ view, symptom, steps }) {
    const failed = view.step(symptom.step);
    const last = failed && misfitOf(view, failed);
    const led = new Set(steps.map(({ number }) => number));
    if (!last || !led.has(last.at.step)) return;
    let first = last;
    let times = 1;
    for (const step of steps.toReversed()) {
      if (step.name !== failed.name || step.kind !== 'tool' || step.number >= failed.number) continue;
      const before = misfitOf(view, step);
      if (before?.kind !== last.kind || before.what !== last.what || !led.has(before.at.step)) break;
      first = before;
      times++;
    }
    const again = times > 1 ? `, ${times} times from here on` : '';
    const text = `${said(last, failed.name)}${again}${instead(last)}`;
    const score = last.kind === 'missing' && times === 1 ? 0.6 : 0.88;
    yield { ...first.at, text, score, kind: last.kind === 'missing' ? 'act' : 'end' };
  },
};

function said({ kind, what }: Misfit, tool: string): string {
  if (kind === 'text') return `the model wrote arguments for ${tool} that are no JSON object`;
  if (kind === 'tool') return `the model called ${tool}, which it was not offered`;
  if (kind === 'missing') return `the model left out ${what} in its call of ${tool}`;
  return `the model gave ${tool} an argument that it does not have, ${what}`;
}

function instead({ kind, names }: Misfit): string {
  if (names.length === 0) return '';
  const more = names.length > mostNames ? `, and ${names.length - mostNames} more` : '';
  return `; ${kind === 'tool' ? 'offered were' : 'it has'} ${names.slice(0, mostNames).join(', ')}${more}`;
}
