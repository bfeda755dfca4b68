import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';

test('a command does not outlive a harness that is killed the moment it starts, nor does what it started', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'chassis-shell-'));
  try {
    for (let round = 0; round < 5; round++) {
      const file = join(folder, `pid-${round}`);
      const harness = spawn(process.execPath, [join(import.meta.dirname, 'orphan-child.ts'), file], {
        stdio: 'ignore',
      });
      expect(await once(harness, 'exit')).toEqual([null, 'SIGKILL']);
      const pid = Number(readFileSync(file, 'utf8').trim());
      expect(pid).toBeGreaterThan(0);
      while (isRunning(pid)) await sleep(20);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});

/** Whether the process is there and no zombie that its new parent has yet to collect. */
function isRunning(pid: number): boolean {
  try {
    return !/^State:\tZ/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}
