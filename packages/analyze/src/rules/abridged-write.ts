/** A text that was read is written back shorter, with a remark in place of what was left out: the remark is what is there now. */
import type { Step } from '@chassis/journal';
import { leavesOf } from '../json.ts';
import { opened } from '../opened.ts';
import { brief, isWriting } from './looks.ts';
import type { Rule } from './rule.ts';

/** A line that stands for others: an ellipsis, alone or in a comment. */
const remark =
  /^\s*(?:\/\/|#|--|;|\/\*|<!--|%|\{\/\*|['"([])?\s*(?:…|\.\.\.)[^\n]{0,60}$|^\s*(?:\/\/|#|--|;|\/\*|<!--|%)[^\n]{0,40}(?:…|\.\.\.)\s*(?:\*\/|-->)?\s*$/mu;
const leastLines = 2;
const mostText = 200_000;

export const abridgedWrite: Rule = {
  name: 'abridged-write',
  *find({ steps }) {
    for (const step of steps) {
      if (step.kind !== 'tool' || step.status !== 'ok' || !isWriting(step)) continue;
      for (const { pointer, text } of leavesOf(step.input, '/input')) {
        if (text.length < 12 || text.length > mostText || !text.includes('\n')) continue;
        const found = remark.exec(text);
        if (!found || !wasRead(steps, step, text, found[0])) continue;
        const at = found.index + found[0].length - found[0].trimStart().length;
        yield {
          step: step.number,
          pointer,
          range: [at, at + found[0].trim().length],
          value: found[0].trim(),
          text: `${step.name} wrote ${brief(found[0].trim())} in place of lines that had been read`,
          score: 0.84,
          kind: 'act',
        };
      }
    }
  },
};

/** Whether an earlier result holds lines of the text, and not the remark. */
function wasRead(steps: readonly Step[], write: Step, text: string, said: string): boolean {
  const lines = new Set(text.split('\n').filter((line) => line.trim().length > 3));
  return steps.some((step) => {
    if (step.kind !== 'tool' || step.number >= write.number || step.status !== 'ok') return false;
    return [...leavesOf(step.output), ...leavesOf(opened(step.output))].some(({ text: read }) => {
      if (read.length > mostText || !read.includes('\n') || read.includes(said.trim())) return false;
      const own = read.split('\n').filter((line) => line.trim().length > 3);
      const kept = own.filter((line) => lines.has(line)).length;
      return own.length >= leastLines && kept > 0 && kept < own.length;
    });
  });
}
