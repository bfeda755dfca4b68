/**
 * How often `why` names the injected cause: `node bench/why/run.ts [--seed N] [--half tuned|opened|aside|third|fourth|fifth|sixth|seventh|all] [--json] [--misses]`.
 *
 * Every run is a real session; each has a healthy twin, which must yield no cause. With `--valid` the runs are only run, not
 * explained: whether each ends as it must, for a set that is still to be counted.
 */
import { parseArgs } from 'node:util';
import { lineage, why } from '../../packages/analyze/src/index.ts';
import { shapesAside } from './aside.ts';
import { shapesFifth, unexplainedFifth } from './fifth.ts';
import { shapesFourth } from './fourth.ts';
import { shapesOpened } from './opened.ts';
import { isOnRecord } from './recorded.ts';
import { shapesSeventh, unexplainedSeventh } from './seventh.ts';
import { shapesSixth, unexplainedSixth } from './sixth.ts';
import { shapesThird, unexplained } from './third.ts';
import { shapesTuned } from './tuned.ts';
import { wilson } from './wilson.ts';
import { causes, generator, type Ran, run, type Scenario } from './world.ts';

const { values: given } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    half: { type: 'string', default: 'all' },
    runs: { type: 'string' },
    json: { type: 'boolean', default: false },
    misses: { type: 'boolean', default: false },
    valid: { type: 'boolean', default: false },
  },
});

interface Tally {
  runs: number;
  top1: number;
  top3: number;
  /** Links labelled `recorded` that the record does not state. */
  false_recorded: number;
  recorded: number;
  /** Healthy twins for which a cause was named. */
  healthy_blamed: number;
}

const none = (): Tally => ({
  runs: 0,
  top1: 0,
  top3: 0,
  false_recorded: 0,
  recorded: 0,
  healthy_blamed: 0,
});

/** Distances from 1 to 40 steps, spread evenly over the runs of a scenario and shaken by the seed. */
function distanceOf(index: number, of: number, random: () => number): number {
  const width = 40 / of;
  return Math.min(40, 1 + Math.floor(index * width + random() * width));
}

async function half(scenarios: readonly Scenario[], runs: number, seed: number) {
  const random = generator(seed);
  const tallies = new Map(causes.map((cause) => [cause as string, none()]));
  const misses: string[] = [];
  for (const scenario of scenarios) {
    const tally = tallies.get(scenario.cause) ?? none();
    for (let index = 0; index < runs; index++) {
      const [own, distance] = [Math.floor(random() * 2 ** 31), distanceOf(index, runs, random)];
      const broken = await run(scenario, own, distance, true);
      const found = why(broken.view);
      const rank = rankOf(found, broken.truth);
      tally.runs++;
      if (rank === 1) tally.top1++;
      if (rank <= 3) tally.top3++;
      if (rank > 1) {
        const named = found.cause
          ? `:${found.cause.step} ${found.cause.rule} ${found.cause.text}`
          : 'no cause named';
        misses.push(
          `${scenario.cause} | ${scenario.name} | distance ${distance} | rank ${rank} | truth ${[...broken.truth].join()} | ${named} | ${found.symptom?.text}`,
        );
      }
      count(broken, found.chain, tally);
      const healthy = await run(scenario, own, distance, false);
      if (why(healthy.view).status !== 'none') tally.healthy_blamed++;
    }
  }
  return { tallies, misses };
}

/** Where the truth stands among the steps that are named, from 1; infinite when it is not. */
function rankOf({ cause, others }: ReturnType<typeof why>, truth: ReadonlySet<number>): number {
  const named = [...new Set([...(cause ? [cause.step] : []), ...others.map(({ step }) => step)])];
  const at = named.findIndex((step) => truth.has(step));
  if (at < 0) return Number.POSITIVE_INFINITY;
  return cause ? at + 1 : at + 2;
}

/** The links of the answer, and of every argument of the call that failed. */
function count({ view }: Ran, chain: ReturnType<typeof why>['chain'], tally: Tally): void {
  const last = view.steps.findLast(({ kind, error }) => kind === 'tool' && error !== undefined);
  const traced = Object.keys((last?.input as object | undefined) ?? {}).flatMap(
    (key) => lineage(view, { step: last?.number ?? 0, pointer: `/input/${key}` })?.links ?? [],
  );
  for (const { from, to, label } of [...chain, ...traced]) {
    if (label !== 'recorded') continue;
    tally.recorded++;
    if (!isOnRecord(view, from, to)) tally.false_recorded++;
  }
}

function sum(tallies: Iterable<Tally>): Tally {
  const all = none();
  for (const tally of tallies) for (const key of Object.keys(all) as (keyof Tally)[]) all[key] += tally[key];
  return all;
}

const percent = (share: number): string => (100 * share).toFixed(1);
const cell = (hits: number, runs: number): string => {
  const [low, high] = wilson(hits, runs);
  return `${hits}/${runs} = ${percent(hits / runs)} % [${percent(low)}, ${percent(high)}]`;
};

const halves = {
  tuned: [shapesTuned, 4],
  opened: [shapesOpened, 4],
  aside: [shapesAside, 6],
  third: [shapesThird, 7],
  fourth: [shapesFourth, 10],
  fifth: [shapesFifth, 5],
  sixth: [shapesSixth, 10],
  seventh: [shapesSeventh, 10],
} as const;

/** Runs every run and its twin, and explains none. Says which do not end as they must, and the steps of the rest from fault to end. */
async function validate(scenarios: readonly Scenario[], runs: number, seed: number) {
  const random = generator(seed);
  const steps: number[] = [];
  for (const scenario of scenarios) {
    for (let index = 0; index < runs; index++) {
      const [own, distance] = [Math.floor(random() * 2 ** 31), distanceOf(index, runs, random)];
      try {
        const { view, truth } = await run(scenario, own, distance, true);
        await run(scenario, own, distance, false);
        steps.push((view.steps.at(-1)?.number ?? 0) - Math.min(...truth));
      } catch (thrown) {
        console.error(`not valid: ${(thrown as Error).message}`);
        bad++;
      }
    }
  }
  return steps.toSorted((a, b) => a - b);
}

/** Runs that fail for a reason that is not on record: how many have a cause named that is more than a guess. */
async function blamed(
  scenarios: readonly Scenario[],
  runs: number,
  seed: number,
): Promise<{ runs: number; blamed: number; named: string[] }> {
  const random = generator(seed);
  const named: string[] = [];
  for (let index = 0; index < runs; index++) {
    const scenario = scenarios[index % scenarios.length] as Scenario;
    const { view } = await run(
      scenario,
      Math.floor(random() * 2 ** 31),
      distanceOf(index, runs, random),
      true,
    );
    const { cause } = why(view);
    if (cause && cause.label !== 'guess') named.push(`${cause.rule} ${cause.label} ${cause.text}`);
  }
  return { runs, blamed: named.length, named };
}

const report: { [half: string]: object } = {};
let bad = 0;
for (const [name, [scenarios, usual]] of Object.entries(halves)) {
  if (given.half !== 'all' && given.half !== name) continue;
  if (given.valid) {
    const steps = await validate(scenarios, Number(given.runs ?? usual), Number(given.seed));
    console.log(
      `${name}: ${scenarios.length} scenarios, ${steps.length} runs failed and their twins ended well, seed ${given.seed}; steps from the fault to the end ${steps[0]} to ${steps.at(-1)}, median ${steps[steps.length >> 1]}`,
    );
    continue;
  }
  const { tallies, misses } = await half(scenarios, Number(given.runs ?? usual), Number(given.seed));
  const all = sum(tallies.values());
  bad += all.false_recorded + all.healthy_blamed;
  report[name] = { scenarios: scenarios.length, all, by_cause: Object.fromEntries(tallies), misses };
  if (given.json) continue;
  console.log(`${name}: ${scenarios.length} scenarios, ${all.runs} failed runs, seed ${given.seed}`);
  for (const [cause, { runs, top1, top3 }] of tallies)
    console.log(`  ${cause.padEnd(27)} top-1 ${cell(top1, runs).padEnd(36)} top-3 ${cell(top3, runs)}`);
  console.log(
    `  ${'all'.padEnd(27)} top-1 ${cell(all.top1, all.runs).padEnd(36)} top-3 ${cell(all.top3, all.runs)}`,
  );
  console.log(
    `  links labelled recorded ${all.recorded}, of them not on record ${all.false_recorded}; healthy twins with a cause ${all.healthy_blamed} of ${all.runs}`,
  );
  if (given.misses) for (const miss of misses) console.log(`  - ${miss}`);
}
const without: readonly [string, readonly string[], readonly Scenario[]][] = [
  ['unexplained', ['all', 'third', 'fourth'], unexplained],
  ['unexplained_fifth', ['all', 'fifth'], unexplainedFifth],
  ['unexplained_sixth', ['all', 'sixth'], unexplainedSixth],
  ['unexplained_seventh', ['all', 'seventh'], unexplainedSeventh],
];
for (const [name, counted, scenarios] of without) {
  if (!counted.includes(given.half)) continue;
  if (given.valid) {
    const steps = await validate(scenarios, 60 / scenarios.length, Number(given.seed));
    console.log(
      `${name}: ${scenarios.length} scenarios, ${steps.length} runs failed and their twins ended well`,
    );
    continue;
  }
  const found = await blamed(scenarios, 60, Number(given.seed));
  report[name] = found;
  if (!given.json)
    console.log(
      `${name === 'unexplained' ? 'unexplained failures' : `unexplained failures of the ${name.split('_')[1]} set`}: ${found.blamed} of ${found.runs} have a cause named that is more than a guess`,
    );
  if (given.misses) for (const one of found.named) console.log(`  - ${one}`);
}
if (given.json && !given.valid) console.log(JSON.stringify({ seed: Number(given.seed), ...report }, null, 2));
process.exitCode = bad > 0 ? 1 : 0;
