/** What was read was of another version than what the failed call was about. */
import { type Leaf, leavesOf } from '../json.ts';
import { lastKey } from '../pointer.ts';
import { isDistinctive } from '../search.ts';
import type { Rule } from './rule.ts';

const versionName = /(?:^|_)(?:version|revision|release|tag|api_?version|ref|edition)$/i;

export const otherVersion: Rule = {
  name: 'other-version',
  *find({ view, steps, symptom }) {
    const failed = view.step(symptom.step);
    if (failed?.kind !== 'tool') return;
    const own = leavesOf(failed.input, '/input');
    const wanted = own.find(isVersion);
    if (!wanted) return;
    const subjects = new Set(
      own.filter((leaf) => leaf !== wanted && isSubject(leaf)).map(({ text }) => text),
    );
    for (const step of steps) {
      if (step.kind !== 'tool' || step.status !== 'ok' || step.number >= failed.number) continue;
      const leaves = leavesOf(step.input, '/input');
      const read = leaves.find(isVersion);
      if (!read || read.text === wanted.text) continue;
      const subject = leaves.find((leaf) => subjects.has(leaf.text));
      if (!subject) continue;
      const text = `${subject.text} ${read.text} was looked at here, and the failed call is about ${wanted.text}`;
      yield { step: step.number, pointer: read.pointer, value: read.value, text, score: 0.74, kind: 'act' };
    }
  },
};

function isVersion({ pointer, text }: Leaf): boolean {
  return versionName.test(lastKey(pointer)) && /\d/.test(text) && text.length <= 60;
}

function isSubject({ value, text }: Leaf): boolean {
  return typeof value === 'string' && text.length <= 120 && (isDistinctive(text) || text.length >= 4);
}
