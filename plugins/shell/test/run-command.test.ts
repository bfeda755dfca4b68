import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ErrorCode } from '@chassis/errors';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { checkedTools } from '../../checked-tools.ts';
import { type FakeContext, fakeContext } from '../../fake-context.ts';
import plugin from '../src/index.ts';

const { run_command } = checkedTools(plugin.tools, join(import.meta.dirname, '..'));

interface Answer {
  exit_code: number | null;
  signal?: string;
  stdout: string;
  stderr: string;
  timed_out: boolean;
}
const run = (input: object, ctx: FakeContext): Promise<Answer> =>
  run_command(input, ctx) as Promise<object> as Promise<Answer>;

let workspace: string;
let ctx: FakeContext;
beforeEach(async () => {
  workspace = await mkdtemp(join(tmpdir(), 'chassis-shell-'));
  ctx = fakeContext({ workspace });
});
afterEach(async () => {
  plugin.on_load({});
  await rm(workspace, { recursive: true });
});

/** Waits, without a limit of its own, until the process is gone (a zombie counts as gone). */
async function gone(pid: number): Promise<void> {
  for (;;) {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
    if (stat === '' || /\) [ZX] /.test(stat)) return;
    await sleep(20);
  }
}

async function pidIn(file: string): Promise<number> {
  for (;;) {
    const text = await readFile(join(workspace, file), 'utf8').catch(() => '');
    if (text.endsWith('\n')) return Number(text);
    await sleep(20);
  }
}

describe('run_command', () => {
  test('arguments reach the program as they are', async () => {
    const argv = ['printf', '%s|', 'two words', '$HOME', '; rm -rf x', 'ü'];
    expect(await run({ argv }, ctx)).toEqual({
      exit_code: 0,
      timed_out: false,
      stdout: 'two words|$HOME|; rm -rf x|ü|',
      stderr: '',
      truncated: false,
      stdout_bytes: 30,
      stderr_bytes: 0,
    });
    expect(ctx.effects).toEqual([{ kind: 'process', argv, exit_code: 0 }]);
  });

  test('a script may use the shell; a failure is an answer with its exit code', async () => {
    expect(await run({ script: 'echo out | tr a-z A-Z; echo err >&2; exit 3' }, ctx)).toMatchObject({
      exit_code: 3,
      stdout: 'OUT\n',
      stderr: 'err\n',
    });
    expect(ctx.effects).toMatchObject([{ kind: 'process', exit_code: 3 }]);
  });

  test('a program that ends by a signal says which', async () => {
    expect(await run({ script: 'kill -9 $$' }, ctx)).toMatchObject({ exit_code: null, signal: 'SIGKILL' });
  });

  test('stdin is empty, the folder is the workspace, the environment is built', async () => {
    process.env.CHASSIS_TEST_SECRET = 's3cr3t';
    process.env.CHASSIS_TEST_PASSED = 'yes';
    try {
      plugin.on_load({ env: ['CHASSIS_TEST_PASSED'] });
      const { stdout } = await run({ script: 'cat; pwd; env' }, ctx);
      expect(stdout).toContain(`${workspace}\n`);
      expect(stdout).toContain('CHASSIS_TEST_PASSED=yes\n');
      expect(stdout).toContain('TERM=dumb\n');
      expect(stdout).not.toContain('s3cr3t');
    } finally {
      delete process.env.CHASSIS_TEST_SECRET;
      delete process.env.CHASSIS_TEST_PASSED;
    }
  });

  test('the folder must be inside the workspace', async () => {
    await mkdir(join(workspace, 'in'));
    await symlink(tmpdir(), join(workspace, 'out'));
    await writeFile(join(workspace, 'file'), '');
    expect(await run({ argv: ['pwd'], cwd: 'in' }, ctx)).toMatchObject({
      stdout: `${join(workspace, 'in')}\n`,
    });
    for (const cwd of ['..', 'out', '/']) {
      await expect(run({ argv: ['pwd'], cwd }, ctx)).rejects.toMatchObject({
        code: ErrorCode.PermissionDenied,
      });
    }
    for (const cwd of ['none', 'file']) {
      await expect(run({ argv: ['pwd'], cwd }, ctx)).rejects.toMatchObject({ code: ErrorCode.InvalidParams });
    }
  });

  test('what cannot be started is an error that names it', async () => {
    await expect(run({ argv: ['no-such-program-here'] }, ctx)).rejects.toMatchObject({
      code: ErrorCode.InvalidParams,
      message: 'no-such-program-here: there is no such program',
    });
    for (const input of [
      {},
      { argv: ['ls'], script: 'ls' },
      { argv: [] },
      { argv: [''] },
      { argv: ['ls', 'a\0b'] },
    ]) {
      await expect(run(input, ctx)).rejects.toMatchObject({ code: ErrorCode.InvalidParams });
    }
    expect(ctx.effects).toEqual([]);
  });

  test('a long output keeps its beginning and its end', async () => {
    plugin.on_load({ output_bytes: 1024 });
    const answer = await run({ script: 'echo first; seq 1 100000; echo last' }, ctx);
    expect(answer).toMatchObject({ truncated: true, stdout_bytes: 588_906 });
    expect(answer.stdout).toMatch(/^first\n1\n2\n/);
    expect(answer.stdout).toMatch(/\n\[… \d+ bytes left out …\]\n/);
    expect(answer.stdout).toMatch(/100000\nlast\n$/);
    expect(answer.stdout.length).toBeLessThan(1100);
  });
});

describe.runIf(process.platform === 'linux')('nothing is left behind', () => {
  test('a time-out kills the whole group and keeps what was written', async () => {
    const script = 'sleep 1000 & echo $! > child; echo started; wait';
    const answer = await run({ script, timeout_ms: 300 }, ctx);
    expect(answer).toMatchObject({
      timed_out: true,
      exit_code: null,
      signal: 'SIGTERM',
      stdout: 'started\n',
    });
    await gone(await pidIn('child'));
  });

  test('a group that ignores SIGTERM is killed all the same', async () => {
    const script =
      'trap "" TERM; (trap "" TERM; while :; do sleep 0.05; done) & echo $! > child; wait; wait; sleep 1000';
    const answer = await run({ script, timeout_ms: 300 }, ctx);
    expect(answer).toMatchObject({ timed_out: true, signal: 'SIGKILL' });
    await gone(await pidIn('child'));
  });

  test('cancelling kills the group; the call fails and its effect is declared', async () => {
    const controller = new AbortController();
    const cancelled = fakeContext({ workspace, signal: controller.signal });
    const running = run({ script: 'sleep 1000 & echo $! > child; wait' }, cancelled);
    const settled = expect(running).rejects.toMatchObject({ name: 'AbortError' });
    const child = await pidIn('child');
    controller.abort();
    await settled;
    await gone(child);
    expect(cancelled.effects).toMatchObject([
      { kind: 'file', path: 'child', before: null },
      { kind: 'process', exit_code: null },
    ]);
  });

  test('shutting the plugin down ends what runs', async () => {
    const running = run({ script: 'sleep 1000 & echo $! > child; wait' }, ctx);
    const child = await pidIn('child');
    plugin.on_shutdown();
    expect(await running).toMatchObject({ signal: 'SIGKILL' });
    await gone(child);
    expect(process.listeners('exit')).not.toContain(plugin.on_shutdown);
  });

  test('a background process does not hold up the answer and does not live on', async () => {
    const answer = await run({ script: 'sleep 1000 & echo $! > child; echo done' }, ctx);
    expect(answer).toMatchObject({ exit_code: 0, stdout: 'done\n', timed_out: false });
    await gone(await pidIn('child'));
  });

  test('a process that left the group does not hold up the answer', async () => {
    const answer = await run({ script: 'setsid sleep 1000 & echo $! > child; echo done' }, ctx);
    expect(answer).toMatchObject({ exit_code: 0, stdout: 'done\n' });
    process.kill(await pidIn('child'), 'SIGKILL');
  });
});
