/** Something was not allowed: by the policy, by a person, or by the system behind a tool. */
import { ErrorCode } from '@chassis/errors';
import type { Step } from '@chassis/journal';
import { failureInside, isRefusal } from './looks.ts';
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
  const inside = failureInside(step);
  return inside && isRefusal(inside.text)
    ? { pointer: inside.pointer, text: `${step.name} was not allowed, and reported success: ${inside.text}` }
    : undefined;
}
