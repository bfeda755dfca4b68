import { expect, test } from 'vitest';
import { LineLog } from './line-log.ts';

test('pieces become lines, the last one too', () => {
  const lines: string[] = [];
  const log = new LineLog((line) => lines.push(line));
  for (const piece of ['on', 'e\ntwo\r\n\nthr', 'ee']) log.add(piece);
  log.end();
  expect(lines).toEqual(['one', 'two', 'three']);
});

test('a line without end costs no more than its limit', () => {
  const lines: string[] = [];
  const log = new LineLog((line) => lines.push(line));
  for (let i = 0; i < 1000; i++) log.add('x'.repeat(10_000));
  log.end();
  expect(lines).toHaveLength(1);
  expect(lines[0]).toHaveLength(4_001);
});

test('a flood is counted instead of passed on, and the last lines are kept', () => {
  const lines: string[] = [];
  const log = new LineLog((line) => lines.push(line));
  log.add(Array.from({ length: 5_000 }, (_, i) => `${i}\n`).join(''));
  log.end();
  expect(lines.length).toBeLessThan(1_000);
  expect(lines.at(-1)).toMatch(/^… \d+ more lines$/);
  expect(log.kept).toHaveLength(20);
  expect(log.kept.at(-1)).toBe('4999');
});
