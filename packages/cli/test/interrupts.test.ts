/** Ctrl-C, a kill, and two processes that want one session. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { chassis, records, start } from './support/chassis.ts';
import { calls, type Project, project } from './support/project.ts';

const waiting = async (folder: Project): Promise<void> => {
  while (!existsSync(join(folder.path, 'waiting'))) await sleep(20);
};
const shownSession = async (folder: Project): Promise<unknown> => {
  const shown = await chassis(['show', '@last', '--json'], { cwd: folder.path });
  return records(shown.stdout).at(-1)?.session;
};

describe('Ctrl-C', () => {
  it('cancels the run first: the record says so, and it can be resumed', async () => {
    using folder = project(calls('wait', {}, 'Done.'));
    const running = start(['run', 'x', '--trust'], { cwd: folder.path });
    await waiting(folder);
    running.child.kill('SIGINT');
    const ended = await running.ended;
    expect(ended).toMatchObject({ code: 130, stdout: '' });
    expect(ended.stderr).toContain('cancelling…');
    expect(await shownSession(folder)).toMatchObject({
      outcome: 'cancelled',
      steps: [{ status: 'ok' }, { status: 'cancelled' }],
    });

    folder.write('go', '');
    const resumed = await chassis(['resume', '@last', '-q'], { cwd: folder.path });
    expect(resumed).toMatchObject({ code: 0, stdout: 'Done.\n' });
    expect(await shownSession(folder)).toMatchObject({ outcome: 'ok' });
  });

  it('ends the process at once when it comes again', async () => {
    using folder = project(calls('wait', {}, 'Done.'));
    // Its end is waited for longer than this test has patience.
    folder.write(
      'plugins/slow-end/plugin.yaml',
      'name: slow-end\nversion: 1.0.0\ndescription: Ends slowly.\nchassis: ">=0.1 <1"\nkind: tool\nruntime: inline\nmodule: ./index.ts\ndeadlines: { on_shutdown_ms: 600000 }\ntools: []\n',
    );
    folder.write(
      'plugins/slow-end/index.ts',
      'export default { on_shutdown: () => new Promise((resolve) => setTimeout(resolve, 600_000)) };\n',
    );
    const running = start(['run', 'x', '--trust'], { cwd: folder.path });
    await waiting(folder);
    running.child.kill('SIGINT');
    await running.seen(/cancelled {2}/);
    // The launcher takes two signals within a moment for one press.
    await sleep(200);
    running.child.kill('SIGINT');
    expect(await running.ended).toMatchObject({ code: 130, stdout: '' });
  });
});

describe('a run that was killed', () => {
  it('is listed as interrupted, is whole, and goes on from its last finished step', async () => {
    using folder = project(calls('wait', {}, 'Done.'));
    const running = start(['run', 'x', '--trust'], { cwd: folder.path });
    await waiting(folder);
    running.child.kill('SIGKILL');
    expect(await running.ended).toMatchObject({ signal: 'SIGKILL' });

    const listed = await chassis(['ls', '--json'], { cwd: folder.path });
    expect(records(listed.stdout)[0]).toMatchObject({ outcome: 'interrupted', steps: 2 });
    folder.write('go', '');
    const resumed = await chassis(['resume', '@last', '-q'], { cwd: folder.path });
    expect(resumed).toMatchObject({ code: 0, stdout: 'Done.\n' });
    expect(await shownSession(folder)).toMatchObject({
      outcome: 'ok',
      steps: [{ attempts: 1 }, { status: 'ok' }, { status: 'ok' }],
    });
    const verified = await chassis(['verify', '@last'], { cwd: folder.path });
    expect(verified.code).toBe(0);
  });
});

describe('a second process on one session', () => {
  it('is refused, names the holder, and leaves the log alone', async () => {
    using folder = project(calls('wait', {}, 'Done.'));
    const running = start(['run', 'x', '--trust', '--json'], { cwd: folder.path });
    await waiting(folder);
    const [id = ''] = readdirSync(join(folder.path, '.chassis', 'sessions'));
    const log = join(folder.path, '.chassis', 'sessions', id, 'log');
    const before = readdirSync(log).map((name) => readFileSync(join(log, name), 'utf8'));

    const second = await chassis(['run', '--session', id, 'y', '-q'], { cwd: folder.path });
    expect(second).toMatchObject({ code: 2, stdout: '' });
    expect(second.stderr).toContain(String(running.child.pid));
    const looked = await chassis(['show', id, '--json'], { cwd: folder.path });
    expect(records(looked.stdout).at(-1)?.session).toMatchObject({ outcome: 'running' });
    const removed = await chassis(['rm', id], { cwd: folder.path });
    expect(removed.code).toBe(2);
    expect(readdirSync(log).map((name) => readFileSync(join(log, name), 'utf8'))).toEqual(before);
    expect(statSync(join(folder.path, '.chassis')).mode & 0o077).toBe(0);

    folder.write('go', '');
    expect(await running.ended).toMatchObject({ code: 0 });
  });
});
