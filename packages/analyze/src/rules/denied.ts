/** Something was not allowed: by the policy, by a person, or by the system behind a tool. */
import { ErrorCode } from '@chassis/errors';
import type { Step } from '@chassis/journal';
import { leavesOf } from '../json.ts';
import { nameOf } from '../pointer.ts';
import { type Finding, failureInside, isRefusal } from './looks.ts';
import type { Rule } from './rule.ts';

const refusals: readonly number[] = [
  ErrorCode.PermissionDenied,
  ErrorCode.ApprovalDenied,
  ErrorCode.Unauthorized,
];

export const denied: Rule = {
  name: 'denied',
  *find({ steps }) {
    for (const step of steps) {
      const found = refused(step);
      if (found) yield { step: step.number, ...found, score: 0.8, kind: 'missing' };
    }
  },
};

function refused(step: Step): { pointer: string; text: string } | undefined {
  const { error } = step;
  if (error) {
    const budget = error.code === ErrorCode.BudgetExceeded;
    const said =
      refusals.includes(error.code) || (step.status === 'denied' && !budget) || isRefusal(error.message);
    return said
      ? { pointer: '/error/message', text: `${step.name} was not allowed: ${error.message}` }
      : undefined;
  }
  if (step.status !== 'ok' || step.kind !== 'tool') return undefined;
  const inside = failureInside(step);
  const said = inside && isRefusal(inside.text) ? inside : remark(step);
  return (
    said && {
      pointer: said.pointer,
      text: `${step.name} was not allowed, and reported success: ${said.text}`,
    }
  );
}

const remarks = /^(?:warnings?|message|reason|details?|notes?|hint|stderr)$/i;

/** A refusal in what a result says beside its data. */
function remark(step: Step): Finding | undefined {
  for (const { pointer, text } of leavesOf(step.output, '/output')) {
    if (remarks.test(nameOf(pointer)) && text.length < 400 && isRefusal(text)) return { pointer, text };
  }
  return undefined;
}
