/** A promise of a schema was broken: a tool's result, or what a model wrote as the arguments of a call. */
import { ErrorCode } from '@chassis/errors';
import { parseDocument } from '../json.ts';
import { misfitOf } from '../misfit.ts';
import { callsOf } from '../place.ts';
import { follow } from '../pointer.ts';
import { issuesOf } from '../statuses.ts';
import type { Rule, Suspect } from './rule.ts';

export const schemaBroken: Rule = {
  name: 'schema-broken',
  *find({ view, steps, symptom }) {
    const failed = view.step(symptom.step);
    const told = failed && misfitOf(view, failed)?.kind === 'text';
    for (const step of steps) {
      if (step.error?.code === ErrorCode.InvalidOutput && step.kind === 'tool') {
        const issue = issuesOf(step.error)[0];
        const pointer = `/output${issue?.path ?? ''}`;
        yield {
          step: step.number,
          ...valueAt(step, pointer),
          text: `the result breaks its own schema: ${issue?.message ?? step.error.message}`,
          score: 0.85,
          kind: 'value',
        };
      }
      for (const call of told ? [] : callsOf(step)) {
        if (parseDocument(call.arguments) !== undefined) continue;
        const text = `the model wrote arguments for ${call.name} that are no JSON object`;
        yield {
          step: step.number,
          pointer: call.pointer,
          value: call.arguments,
          text,
          score: 0.75,
          kind: 'act',
        };
      }
    }
  },
};

function valueAt(step: object, pointer: string): Pick<Suspect, 'pointer' | 'value'> {
  const value = follow(step, pointer);
  return value === undefined ? { pointer } : { pointer, value };
}
