/**
 * The seeded failures as a whole: how often `why` names the injected cause, and that it keeps quiet where there is none.
 * The floors are far below what is reached: they catch a rule that breaks, they are no claim.
 */
import { expect, test } from 'vitest';
import { why } from '../src/index.ts';
import { scores } from './seeded.ts';
import { shapes } from './shapes.ts';
import { shapesAside } from './shapes-aside.ts';
import { shapesMore } from './shapes-more.ts';

const all = [...shapes, ...shapesAside, ...shapesMore];
const causes = [
  'truncation',
  'wrong locale',
  'stale read',
  'wrong tool result',
  'fabricated value',
  'loop',
  'swallowed error',
  'retry with changed payload',
  'late duplicate',
  'missing permission',
  'wrong unit',
  'dropped page',
];

test('each of the twelve causes comes in at least three shapes', () => {
  for (const cause of causes)
    expect(all.filter((shape) => shape.cause === cause).length, cause).toBeGreaterThanOrEqual(3);
  expect(new Set(all.map(({ cause }) => cause))).toEqual(new Set(causes));
});

test('the injected cause is named first in most runs, and is among the first three in nearly all', () => {
  const found = scores(all);
  const sum = (key: 'runs' | 'top1' | 'top3'): number =>
    found.reduce((total, score) => total + score[key], 0);
  const table = found
    .map(({ cause, name, runs, top1, top3 }) => `${top1}/${runs} ${top3}/${runs} ${cause}: ${name}`)
    .join('\n');
  expect(sum('top1') / sum('runs'), table).toBeGreaterThanOrEqual(0.85);
  expect(sum('top3') / sum('runs'), table).toBeGreaterThanOrEqual(0.95);
});

test('healthy runs have no cause', () => {
  for (const shape of all) expect(why(shape.healthy(3, 2)).status, shape.name).toBe('none');
});

test('a failure that the record does not explain is not blamed on what is merely there', () => {
  const blamed = all.filter((shape) => {
    const { cause } = why(shape.unexplained(3, 2));
    return cause !== undefined && cause.label !== 'guess';
  });
  expect(blamed.map(({ name }) => name)).toEqual([]);
});
