/** The model wrote a value of its own after a compaction had taken out the result that held one of that name. */
import type { SessionView, Step } from '@chassis/journal';
import { holdersOfOutput } from '../holders.ts';
import { sameName } from '../names.ts';
import { follow } from '../pointer.ts';
import { type Spot, spotAt, spotsOf } from '../spots.ts';
import { brief } from './looks.ts';
import type { Rule } from './rule.ts';

export const lostResult: Rule = {
  name: 'lost-result',
  *find({ view, steps, traces }) {
    const compactions = steps.filter(
      ({ kind, agent }) => kind === 'model' && /(?:^|\/)compaction$/.test(agent),
    );
    if (compactions.length === 0) return;
    for (const { lineage } of traces) {
      const { birth, origin } = lineage;
      const wrote = view.step(birth.step);
      const spot = spotAt(view, birth);
      if (origin !== 'model' || !wrote || !spot) continue;
      const lost = lostBefore(view, steps, wrote, spot);
      if (!lost) continue;
      const { number } =
        compactions.findLast((step) => step.number < wrote.number && step.number > lost.step) ?? {};
      if (number === undefined) continue;
      const summary = follow(view.step(number)?.output, '/message/content');
      if (typeof summary === 'string' && summary.includes(lost.text)) continue;
      yield {
        step: number,
        pointer: '/output/message/content',
        text: `the summary left out ${lost.name} ${brief(lost.text)} of :${lost.step}; the model wrote ${brief(birth.text)} without it`,
        score: 0.62,
        kind: 'missing',
      };
    }
  },
};

/** The newest value of that name in a result that is no longer in sight. */
function lostBefore(view: SessionView, steps: readonly Step[], wrote: Step, spot: Spot): Spot | undefined {
  const sight = new Set(holdersOfOutput(view, wrote).map(({ step }) => step));
  for (const step of steps.toReversed()) {
    if (step.kind !== 'tool' || step.number > wrote.number || sight.has(step.number)) continue;
    const found = spotsOf(view, step.number, '/output').find(
      (other) => sameName(other.name, spot.name) && other.text !== spot.text,
    );
    if (found) return found;
  }
  return undefined;
}
