/** How often `why` names the injected cause, over all shapes, distances and seeds. */
import { why } from '../src/index.ts';
import { type Shape, shapes } from './shapes.ts';

export interface Score {
  readonly cause: string;
  readonly name: string;
  readonly runs: number;
  readonly top1: number;
  readonly top3: number;
  /** Runs in which something else was called the cause, with a label stronger than a guess. */
  readonly wrong: number;
}

export const distances = [0, 1, 3, 8, 20] as const;
export const seeds = [1, 2, 5] as const;

export function scores(of: readonly Shape[] = shapes): Score[] {
  return of.map((shape) => {
    const runs = distances.flatMap((distance) => seeds.map((seed) => shape.fail(distance, seed)));
    const ranks = runs.map(({ view, truth }) => {
      const found = why(view);
      const named = [found.cause, ...found.others].flatMap((suspect) => suspect?.step ?? []);
      const steps = [...new Set(named)];
      const rank = found.cause
        ? steps.indexOf(truth)
        : steps.indexOf(truth) < 0
          ? -1
          : steps.indexOf(truth) + 1;
      return {
        rank,
        wrong: found.cause !== undefined && found.cause.step !== truth && found.cause.label !== 'guess',
      };
    });
    const count = (test: (rank: number) => boolean): number => ranks.filter(({ rank }) => test(rank)).length;
    return {
      cause: shape.cause,
      name: shape.name,
      runs: runs.length,
      top1: count((rank) => rank === 0),
      top3: count((rank) => rank >= 0 && rank < 3),
      wrong: ranks.filter(({ wrong }) => wrong).length,
    };
  });
}
