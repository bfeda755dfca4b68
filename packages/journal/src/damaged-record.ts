/** The error for a record that is not whole: what is wrong first, where, and what can be done. */
import { ChassisError } from '@chassis/errors';
import { describeProblem, type Problem } from './problem.ts';

/**
 * @param what begins the message: `session k3f is damaged`
 * @param problems at least one; the first is told, all are in `data.problems`
 * @param fix one sentence
 */
export function damagedRecord(
  session: string,
  what: string,
  problems: readonly Problem[],
  fix = `look at it with chassis verify ${session}, then chassis repair ${session}`,
): ChassisError {
  const [first] = problems;
  const more = problems.length > 1 ? `, and ${problems.length - 1} more` : '';
  const told = first === undefined ? '' : `: ${describeProblem(first)}`;
  return new ChassisError('DamagedRecord', `${what}${told}${more}; ${fix}`, {
    data: { session, problems, fix },
  });
}
