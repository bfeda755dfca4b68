/**
 * The method: floor and candidate take turns of 50 ms (200 ms where a round trip or a batch takes long) in one process, so that
 * whatever else the machine does hits both alike. The figure is CPU time per round trip of the candidate over that of the
 * floor, as its turns just before and just after have it; the median is reported. The floor against itself shows what the
 * method can tell apart.
 */
import { deepStrictEqual } from 'node:assert';
import { type Connection, open, type Scenario } from './scenario.ts';

export interface Ratio {
  /** Median of the pairs. */
  readonly ratio: number;
  /** CPU microseconds per round trip in the floor's and the candidate's best slices. */
  readonly floor: number;
  readonly candidate: number;
}

/**
 * @param pairs of turns
 * @param warmUpMs CPU time each side gets before
 */
export async function compare(
  scenario: Scenario,
  name: string,
  pairs: number,
  warmUpMs: number,
): Promise<Ratio> {
  const [floor, candidate] = [
    await open('floor', scenario.transport),
    await open(name === 'floor' ? 'floor-again' : name, scenario.transport),
  ];
  try {
    for (const { client } of [floor, candidate])
      deepStrictEqual(await client.echo(scenario.params), scenario.params);
    await warmUp([floor, candidate], scenario, warmUpMs * 1000);
    const ratios: number[] = [];
    const best = { floor: Number.POSITIVE_INFINITY, candidate: Number.POSITIVE_INFINITY };
    let before = await slice(floor, scenario);
    for (let pair = 0; pair < pairs; pair++) {
      const between = await slice(candidate, scenario);
      const after = await slice(floor, scenario);
      ratios.push((2 * between) / (before + after));
      best.floor = Math.min(best.floor, before, after);
      best.candidate = Math.min(best.candidate, between);
      before = after;
    }
    return { ratio: median(ratios), ...best };
  } finally {
    floor.close();
    candidate.close();
  }
}

/** By CPU time: on a busy machine a second may pass before the compiler has seen a tenth of one. */
async function warmUp(sides: readonly Connection[], scenario: Scenario, microseconds: number): Promise<void> {
  const giveUp = performance.now() + 30_000;
  for (const side of sides) {
    const until = side.cpu() + microseconds;
    while (side.cpu() < until && performance.now() < giveUp) await slice(side, scenario);
  }
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const [low = Number.NaN, high = Number.NaN] = [sorted[middle - 1], sorted[middle]];
  return sorted.length % 2 === 1 ? high : (low + high) / 2;
}

/** Runs for one slice; CPU microseconds per round trip. */
async function slice(side: Connection, { params, inFlight, batch, sliceMs }: Scenario): Promise<number> {
  const { client } = side;
  let trips = 0;
  const before = side.cpu();
  const end = performance.now() + sliceMs;
  const single = async (): Promise<void> => {
    do {
      await client.echo(params);
      trips++;
    } while (performance.now() < end);
  };
  const all = Array.from({ length: batch }, () => params);
  const batched = async (): Promise<void> => {
    do {
      if (client.batch) await client.batch(all);
      else await Promise.all(all.map((one) => client.echo(one)));
      trips += batch;
    } while (performance.now() < end);
  };
  if (batch > 0) await batched();
  else await Promise.all(Array.from({ length: inFlight }, single));
  return (side.cpu() - before) / trips;
}
