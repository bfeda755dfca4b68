/**
 * Every suspect of every run with its facts, and whether it is the truth: `node bench/why/features.ts [--seed N] [--runs N] SET …`.
 * One line of JSON for each run, to find out what tells the truth from the rest.
 */
import { parseArgs } from 'node:util';
import { gather } from '../../packages/analyze/src/evidence.ts';
import { hold } from '../../packages/analyze/src/hold.ts';
import { weighed } from '../../packages/analyze/src/rank.ts';
import { symptomOf } from '../../packages/analyze/src/symptom.ts';
import { shapesAside } from './aside.ts';
import { factsOf } from './facts.ts';
import { shapesFifth, unexplainedFifth } from './fifth.ts';
import { shapesFourth } from './fourth.ts';
import { shapesOpened } from './opened.ts';
import { shapesSeventh, unexplainedSeventh } from './seventh.ts';
import { shapesSixth, unexplainedSixth } from './sixth.ts';
import { shapesThird, unexplained } from './third.ts';
import { shapesTuned } from './tuned.ts';
import { generator, run, type Scenario } from './world.ts';

const { values, positionals } = parseArgs({
  options: { seed: { type: 'string', default: '1' }, runs: { type: 'string', default: '4' } },
  allowPositionals: true,
});

const sets: { readonly [name: string]: readonly Scenario[] } = {
  tuned: shapesTuned,
  opened: shapesOpened,
  aside: shapesAside,
  third: shapesThird,
  fourth: shapesFourth,
  fifth: shapesFifth,
  sixth: shapesSixth,
  seventh: shapesSeventh,
  unexplained,
  unexplained_fifth: unexplainedFifth,
  unexplained_sixth: unexplainedSixth,
  unexplained_seventh: unexplainedSeventh,
};

const runs = Number(values.runs);
for (const [name, scenarios] of Object.entries(sets)) {
  if (positionals.length > 0 && !positionals.includes(name)) continue;
  const random = generator(Number(values.seed));
  for (const scenario of scenarios)
    for (let index = 0; index < runs; index++) {
      const own = Math.floor(random() * 2 ** 31);
      const distance = Math.min(40, 1 + Math.floor((index + random()) * (40 / runs)));
      const { view, truth } = await run(scenario, own, distance, true);
      const held = hold(view);
      const symptom = symptomOf(held);
      if (!symptom) continue;
      const gathered = gather(held, symptom);
      const found = weighed(gathered);
      const facts = factsOf(gathered.evidence, found);
      const suspects = found.map((suspect) => ({
        step: suspect.step,
        rule: suspect.rule,
        kind: suspect.kind,
        score: suspect.score,
        true: truth.has(suspect.step) && !name.startsWith('unexplained'),
        ...facts(suspect),
      }));
      console.log(
        JSON.stringify({
          set: name,
          scenario: scenario.name,
          cause: scenario.cause,
          truth: [...truth],
          symptom: symptom.text,
          suspects,
        }),
      );
    }
}
