/** Something was not allowed: by the policy, by a person, or by the system behind a tool. */
import { ErrorCode } from '@chassis/errors';
import type { Step } from '@chassis/journal';
import { pointerOf, remarkName } from '../columns.ts';
import type { ToolUse } from '../survey.ts';
import { type Finding, failureInside, isRefusal } from './looks.ts';
import type { Rule } from './rule.ts';

const refusals: readonly number[] = [
  ErrorCode.PermissionDenied,
  ErrorCode.ApprovalDenied,
  ErrorCode.Unauthorized,
];

export const denied: Rule = {
  name: 'denied',
  *find({ steps, tools }) {
    const remarked = remarksIn(tools);
    for (const step of steps) {
      const found = refused(step, remarked.get(step.number));
      if (found) yield { step: step.number, ...found, score: 0.8, kind: 'missing' };
    }
  },
};

function refused(step: Step, remark: Finding | undefined): Finding | undefined {
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
  const said = inside && isRefusal(inside.text) ? inside : remark;
  return (
    said && {
      pointer: said.pointer,
      text: `${step.name} was not allowed, and reported success: ${said.text}`,
    }
  );
}

/** Refusals in what results say beside their data, by the step. */
function remarksIn(tools: readonly ToolUse[]): Map<number, Finding> {
  // The same remark comes again and again.
  const judged = new Map<string, boolean>();
  const refuses = (text: string): boolean => {
    const known = judged.get(text);
    if (known !== undefined) return known;
    const is = isRefusal(text);
    if (judged.size < 10_000) judged.set(text, is);
    return is;
  };
  const found = new Map<number, Finding>();
  for (const { columns } of tools) {
    for (const column of columns) {
      if (!remarkName.test(column.name) && column.shape !== '/output') continue;
      for (const seen of column.told) {
        const { step, value } = seen;
        if (typeof value !== 'string' || value.length >= 400 || found.has(step.number) || !refuses(value))
          continue;
        found.set(step.number, { pointer: pointerOf(column, seen), text: value });
      }
    }
  }
  return found;
}
