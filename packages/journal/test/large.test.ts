/** Sessions far larger than what a process may hold: 2 GB in the full share, some 70 MB otherwise, each with a line of 32 MB. */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { folder } from './build.ts';

const FULL = process.env.CHASSIS_FULL === '1';
const BYTES = FULL ? 2e9 : 42e6;
/** Peak of a process that looks, or goes on with it, in MB; Node itself takes some 80 of them. */
const MOST = FULL ? 300 : 250;
/** The same of the one that writes all of it and has garbage to collect on the way. */
const MOST_WRITING = FULL ? 450 : 250;
const child = fileURLToPath(new URL('./large-child.ts', import.meta.url));

interface Told {
  readonly found: unknown;
  readonly megabytes: number;
}

function run(root: string, ...args: string[]): Told {
  const out = execFileSync(process.execPath, [child, root, 'large', ...args], { encoding: 'utf8' });
  return JSON.parse(out) as Told;
}

test(`a session of ${BYTES / 1e6} MB is listed, shown, gone through and gone on with in bounded memory`, {
  timeout: FULL ? 30 * 60_000 : 180_000,
}, () => {
  using here = folder();
  const make = (bytes: number): void =>
    expect(run(here.path, 'make', String(bytes)).megabytes, 'make').toBeLessThan(MOST_WRITING);
  make(BYTES * 0.75);
  run(here.path, 'long');
  make(BYTES * 0.25);
  const steps = Math.ceil((BYTES * 0.75) / 6000) + Math.ceil((BYTES * 0.25) / 6000);
  const log = join(here.path, 'sessions', 'large', 'log');
  const sizes = readdirSync(log).map((name) => [name, statSync(join(log, name)).size] as const);
  const sum = (wanted: RegExp): number =>
    sizes.filter(([name]) => wanted.test(name)).reduce((all, [, size]) => all + size, 0);
  let raw = sum(/\.jsonl$/);
  for (const [name] of sizes.filter(([one]) => one.endsWith('.idx')))
    for (const { rawLength } of (
      JSON.parse(readFileSync(join(log, name), 'utf8')) as { frames: { rawLength: number }[] }
    ).frames)
      raw += rawLength;
  expect(raw).toBeGreaterThan(BYTES);
  const derived = statSync(join(log, '..', 'snapshots')).size + sum(/\.(idx|places)$/);
  expect(derived).toBeLessThan(sum(/\.(jsonl|zst)$/) * 0.05);

  const told = (deed: string): unknown => {
    const { found, megabytes } = run(here.path, deed);
    expect(megabytes, deed).toBeLessThan(MOST);
    return found;
  };
  const ten = Array.from({ length: 10 }, (_, i) => i - 9);
  const page = told('page') as { steps: number; turns: number; last: string; outputs: number[] };
  const turns = Math.ceil(steps / 200);
  expect(page).toEqual({ steps, turns, last: `task ${turns}`, outputs: ten.map((i) => 1 - i) });
  const middle = told('middle') as { steps: number };
  expect(Math.abs(middle.steps - steps / 2)).toBeLessThan(steps * 0.02 + 5);
  expect(told('lines')).toEqual(ten);
  expect(told('follow')).toEqual(ten);
  expect(told('list')).toMatchObject([{ steps }]);
  expect(told('resume')).toMatchObject({ steps: steps + 1, before: steps });
  expect(told('resume')).toMatchObject({ steps: steps + 2, before: steps + 1 });
});
