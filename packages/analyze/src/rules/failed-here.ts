/** The failure says itself that its cause lies outside the run: no connection, no budget, no room, no such tool, no end. */
import { ErrorCode } from '@chassis/errors';
import { follow } from '../pointer.ts';
import { isOpen } from '../statuses.ts';
import type { Rule } from './rule.ts';

/** What a code says, and how surely the cause is not to be looked for in the run. */
const outside = new Map<number, readonly [string, number]>([
  [ErrorCode.Unavailable, ['what was called was not available', 0.8]],
  [ErrorCode.ModelError, ['the model provider failed', 0.8]],
  [ErrorCode.RateLimited, ['the rate limit was reached', 0.8]],
  [ErrorCode.BudgetExceeded, ['the budget was used up', 0.58]],
  [ErrorCode.ContextTooLong, ['the conversation no longer fits the model', 0.58]],
  [ErrorCode.MethodNotFound, ['there is no such tool', 0.58]],
]);

export const failedHere: Rule = {
  name: 'failed-here',
  *find({ view, symptom }) {
    const step = view.step(symptom.step);
    if (step && isOpen(step)) {
      const text = 'the harness ended while this was under way; what ended it is not on record';
      yield { step: symptom.step, text, score: 0.8, kind: 'end' };
    }
    const error = step?.error;
    const known = error && outside.get(error.code);
    if (!known) return;
    const [text, score] = known;
    const root = follow(error.data, '/cause/message');
    const said = typeof root === 'string' ? root : error.message;
    yield { step: symptom.step, pointer: '/error/message', text: `${text}: ${said}`, score, kind: 'end' };
  },
};
