/** A call goes the other way than the person asked: from where it should go to, and to where it should come from. */
import { type Leaf, leavesOf } from '../json.ts';
import { findExact } from '../match.ts';
import { lastKey } from '../pointer.ts';
import type { Rule } from './rule.ts';

/** "from A to B", as people write it. */
const ways = [
  /\bfrom\s+["'`]?([\w./:@-]{2,60})["'`]?\s+(?:in)?to\s+["'`]?([\w./:@-]{2,60})/gi,
  /\bvon\s+["'`„]?([\w./:@-]{2,60})["'`“]?\s+(?:nach|zu|auf|in)\s+["'`„]?([\w./:@-]{2,60})/gi,
  /从\s*([\w./:@-]{2,60})\s*(?:到|至)\s*([\w./:@-]{2,60})/g,
];
const isStart = /^(?:from|source|src|origin|old|input|base)(?:$|[_A-Z-])|(?:^|_)(?:from|source|src)$/;
const isEnd =
  /^(?:to|target|dest|destination|dst|new|output)(?:$|[_A-Z-])|(?:^|_)(?:to|target|dest|destination)$/;

export const swappedEnds: Rule = {
  name: 'swapped-ends',
  *find({ view, steps }) {
    const asked = view.turns.flatMap(({ input }) =>
      ways.flatMap((way) => [...input.matchAll(way)].map(([, from = '', to = '']) => ({ from, to }))),
    );
    if (asked.length === 0) return;
    for (const step of steps) {
      if (step.kind !== 'tool' || step.call_id === undefined) continue;
      const leaves = leavesOf(step.input, '/input');
      const start = leaves.find(({ pointer }) => isStart.test(lastKey(pointer)));
      const end = leaves.find(({ pointer }) => isEnd.test(lastKey(pointer)));
      if (!start || !end) continue;
      const way = asked.find(
        ({ from, to }) => from !== to && speaksOf(start, to) && speaksOf(end, from) && !speaksOf(start, from),
      );
      if (!way) continue;
      const text = `the person asked for it from ${way.from} to ${way.to}, and this call goes from ${start.text} to ${end.text}`;
      yield { step: step.number, pointer: start.pointer, value: start.text, text, score: 0.82, kind: 'act' };
    }
  },
};

function speaksOf({ text }: Leaf, word: string): boolean {
  const plain = word.replace(/[.,:]+$/, '');
  return text.length < 300 && findExact(plain.toLowerCase(), text.toLowerCase()) !== undefined;
}
