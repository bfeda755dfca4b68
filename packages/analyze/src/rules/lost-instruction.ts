/** What the person had said is no longer in the request: a compaction took it out, and nothing repeats it. */
import type { SessionView } from '@chassis/journal';
import { newIn } from '../origins.ts';
import { brief } from './looks.ts';
import type { Rule } from './rule.ts';

export const lostInstruction: Rule = {
  name: 'lost-instruction',
  *find({ view, steps }) {
    /** Where each of the person's messages stands in the newest request. */
    const places = new Map<number, number>();
    const lost = new Set<number>();
    for (const step of steps) {
      // The words were said to the session's own agent; whom it asks is told what it chooses.
      if (step.kind !== 'model' || step.parent !== null || step.agent !== 'main') continue;
      const keep = view.delta?.(step.number)?.keep;
      const open = wordsOf(view, step.turn).filter(([turn]) => {
        const place = places.get(turn);
        return !lost.has(turn) && (keep === undefined || place === undefined || place >= keep);
      });
      // Most requests keep what was said, and need not be looked into.
      if (open.length === 0) continue;
      const request = newIn(view, step);
      for (const [turn, said] of open) {
        const place = places.get(turn);
        if (place !== undefined && place < request.kept) continue;
        const index = request.messages.findIndex(({ content }) => content.includes(said));
        if (index >= 0) places.set(turn, request.kept + index);
        if (index >= 0 || place === undefined) continue;
        lost.add(turn);
        yield {
          step: step.number,
          pointer: '/input/messages',
          value: said,
          text: `from here on the model no longer sees what the person said: ${brief(said)}`,
          score: 0.52,
          kind: 'missing',
        };
      }
    }
  },
};

function wordsOf(view: SessionView, turn: number): [number, string][] {
  return view.turns.flatMap(({ number, input }) =>
    number <= turn && input.trim() !== '' ? [[number, input] as [number, string]] : [],
  );
}
