/** A call that failed on its way was tried again, but with other data: the retry is not the same request. */
import { ErrorCode, isRetryable } from '@chassis/errors';
import type { Step } from '@chassis/journal';
import { firstDifference } from '../difference.ts';
import { canonical, leafText, leavesOf } from '../json.ts';
import { failureInside } from './looks.ts';
import type { Rule } from './rule.ts';

export const changedRetry: Rule = {
  name: 'changed-retry',
  *find({ tools, traces }) {
    for (const { name, calls } of tools) {
      for (const [index, retry] of calls.entries()) {
        const before = calls[index - 1];
        if (!before || !brokeOnItsWay(before)) continue;
        const change = firstDifference(before.input, retry.input);
        if (!change || !isMostlySame(before, retry)) continue;
        const [was, is] = [change.expected, change.actual].map((value) =>
          value === undefined ? 'nothing' : canonical(value),
        );
        yield {
          step: retry.number,
          pointer: `/input${change.path}`,
          ...(change.actual === undefined ? {} : { value: change.actual }),
          text: `${name} :${before.number} ended in ${before.error?.name ?? before.status} and was tried again with other data: ${change.path} was ${was}, is ${is}`,
          // The failure is about what the first attempt had.
          score: traces.some(({ lineage }) => lineage.birth.text === leafText(change.expected)) ? 0.86 : 0.68,
          kind: 'act',
        };
      }
    }
  },
};

/** A failure that says nothing against the data: the same request may be sent again. */
function brokeOnItsWay(step: Step): boolean {
  if (step.status === 'timeout' || step.status === 'unknown') return true;
  if (step.error)
    return (
      isRetryable(step.error) || step.error.code === ErrorCode.Unavailable || passing.test(step.error.message)
    );
  return passing.test(failureInside(step)?.text ?? '');
}

const passing =
  /\b(?:timed? ?out|timeout|temporar\w*|try again|unavailable|connection|reset|50[0234]|429|busy|deadlock\w*|rolled back|aborted|interrupted|too many requests|rate.?limit\w*|throttl\w*|zeitüberschreitung|délai|tiempo de espera|tempo scaduto|tempo esgotado|przekroczono czas)\b|超时|逾時|タイムアウト|시간 ?초과|таймаут|время ожидания/i;

/** Whether two calls were given nearly the same; an item more or less in a list, or a part of a longer text, is little. */
export function isMostlySame(a: Step, b: Step): boolean {
  const texts = (step: Step): Map<string, string> =>
    new Map(leavesOf(step.input).map(({ pointer, text }) => [`${placeIn(pointer)} ${text}`, text]));
  const [before, after] = [texts(a), texts(b)];
  const common = [...before.keys()].filter((text) => after.has(text)).length;
  if (common > 0) return common >= Math.max(before.size, after.size) - 2;
  const [was, is] = [[...before.values()], [...after.values()]];
  return was.length === 1 && is.length === 1 && holdsMost(was[0] ?? '', is[0] ?? '');
}

/** A member's place, whichever item of a list it stands in. */
function placeIn(pointer: string): string {
  return pointer.replaceAll(/\/\d+(?=\/|$)/g, '/*');
}

const leastKept = 12;

/** Whether one of two texts is a good part of the other. */
function holdsMost(a: string, b: string): boolean {
  const [short, long] = a.length < b.length ? [a, b] : [b, a];
  return short.length >= leastKept && short.length * 3 >= long.length && long.includes(short);
}
