import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';

test('a command does not outlive a harness that is killed, nor does what the command started', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'chassis-shell-'));
  const file = join(folder, 'pid');
  const harness = spawn(process.execPath, [join(import.meta.dirname, 'orphan-child.ts'), file], {
    stdio: 'ignore',
  });
  try {
    let pid = 0;
    while (pid === 0) {
      await sleep(20);
      try {
        pid = Number(readFileSync(file, 'utf8').trim());
      } catch {
        // not written yet
      }
    }
    expect(isRunning(pid)).toBe(true);
    harness.kill('SIGKILL');
    while (isRunning(pid)) await sleep(20);
  } finally {
    harness.kill('SIGKILL');
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
