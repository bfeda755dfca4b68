import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { folder } from '../../test/build.ts';
import { type Holder, liveness, takeLock } from './lock.ts';

/** The identity of a process that is certainly gone. */
function deadHolder(holder: Holder): Holder {
  const { pid } = spawnSync(process.execPath, ['-e', '']);
  return { ...holder, pid, nonce: 'of the dead', started: '1' };
}

function plant(path: string, holder: Holder): void {
  writeFileSync(path, JSON.stringify(holder));
}

test('a second writer is refused, and told who holds the lock', () => {
  using dir = folder();
  const path = join(dir.path, 'lock');
  const lock = takeLock(path, 'session s');
  expect(() => takeLock(path, 'session s')).toThrow(
    expect.objectContaining({ name: 'Conflict', data: expect.objectContaining({ holder: lock.holder }) }),
  );
  expect(() => takeLock(path, 'session s', true)).toThrow(`process ${process.pid}`);
  lock.release();
  expect(existsSync(path)).toBe(false);
  takeLock(path, 'session s').release();
});

test('the lock of a dead process is taken over with a higher fence, and nothing is left lying about', () => {
  using dir = folder();
  const path = join(dir.path, 'lock');
  const mine = takeLock(path, 's');
  plant(path, deadHolder(mine.holder));
  const taken = takeLock(path, 's');
  expect(taken.takenOver).toBe(true);
  expect(taken.holder.fence).toBe(mine.holder.fence + 1);
  expect(readdirSync(dir.path)).toEqual(['lock']);
});

test('a process number that was given to another process fools nobody', () => {
  using dir = folder();
  const path = join(dir.path, 'lock');
  const { holder } = takeLock(path, 's');
  // Our own number, as a process of another start time or another boot would have had it.
  plant(path, { ...holder, started: String(Number(holder.started) - 1), nonce: 'earlier' });
  expect(takeLock(path, 's').takenOver).toBe(true);
  plant(path, { ...holder, boot: 'another boot', nonce: 'before the restart' });
  expect(takeLock(path, 's').takenOver).toBe(true);
});

test('a holder on another host or in another container cannot be asked: only with force', () => {
  using dir = folder();
  const path = join(dir.path, 'lock');
  const { holder } = takeLock(path, 's');
  for (const elsewhere of [
    { host: 'elsewhere' },
    { machine: 'another of this name', boot: 'its own' },
    { namespace: 'pid:[1]' },
  ]) {
    plant(path, { ...holder, ...elsewhere, nonce: 'far' });
    expect(liveness({ ...holder, ...elsewhere })).toBe('unknown');
    expect(() => takeLock(path, 's')).toThrow('--force');
    expect(takeLock(path, 's', true).takenOver).toBe(true);
  }
});

test('whoever lost the lock finds out, and does not take it from its new holder', () => {
  using dir = folder();
  const path = join(dir.path, 'lock');
  const old = takeLock(path, 's');
  plant(path, deadHolder(old.holder));
  const now = takeLock(path, 's');
  expect(() => old.check()).toThrow(`process ${now.holder.pid}`);
  old.release();
  now.check();
  expect(readFileSync(path, 'utf8')).toContain(now.holder.nonce);
});

test('a claim whose process died, and a lock file of garbage, stop nobody', () => {
  using dir = folder();
  const path = join(dir.path, 'lock');
  const { holder } = takeLock(path, 's');
  const dead = deadHolder(holder);
  plant(path, dead);
  plant(`${path}.fence-${dead.fence + 1}`, dead);
  expect(takeLock(path, 's').takenOver).toBe(true);
  writeFileSync(path, '\0\0\0\0');
  expect(takeLock(path, 's').takenOver).toBe(true);
  expect(readdirSync(dir.path)).toEqual(['lock']);
});
