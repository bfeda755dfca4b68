import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { hold } from '../lock.mjs';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'chassis-lock-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('two calls for one lock run one after the other, and the second says that it waits', async () => {
  const file = join(folder, 'deep', 'lock');
  const order: string[] = [];
  const body = (name: string) => async () => {
    order.push(`${name} in`);
    await sleep(50);
    order.push(`${name} out`);
  };
  await Promise.all([
    hold(file, () => {}, body('first')),
    hold(file, (line: string) => order.push(line), body('second')),
  ]);
  expect(order).toEqual([
    'first in',
    'another call is at work, waiting for it',
    'first out',
    'second in',
    'second out',
  ]);
  expect(existsSync(file)).toBe(false);
});

test('the lock of a process that died is taken over at once', async () => {
  const file = join(folder, 'lock');
  const { pid } = spawnSync(process.execPath, ['--version']);
  writeFileSync(file, JSON.stringify({ pid, host: hostname(), nonce: 1 }));
  let ran = false;
  await hold(file, expect.unreachable, async () => {
    ran = true;
  });
  expect(ran).toBe(true);
});

test('a body that fails gives the lock back', async () => {
  const file = join(folder, 'lock');
  await expect(hold(file, expect.unreachable, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(existsSync(file)).toBe(false);
});
