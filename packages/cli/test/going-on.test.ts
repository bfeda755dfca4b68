/** How a run goes on after it ended: the same script, the command that fits the failure, and what becomes of each step. */
import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { chassis, records, start } from './support/chassis.ts';
import { calls, project, says } from './support/project.ts';

const strict = 'agent: { settings: { max_tool_errors: 1 } }\n';

describe('a session that was started with a script', () => {
  it('goes on with the same one, says so, and is refused when the file is gone', async () => {
    using folder = project(says('From the project.'));
    const script = join(folder.path, 'other.yaml');
    folder.write('other.yaml', 'turns:\n  - { say: From the other script., repeat: true }\n');
    await chassis(['run', 'x', '--script', 'other.yaml', '--trust', '-q'], { cwd: folder.path });
    for (const args of [
      ['fork', '@last:1', '--message', 'again', '--run'],
      ['run', '--session', '@last', 'and again'],
    ]) {
      const ended = await chassis(args, { cwd: folder.path });
      expect(ended).toMatchObject({ code: 0, stdout: 'From the other script.\n' });
      expect(ended.stderr).toContain(`playing the script ${script}`);
    }
    const forked = await chassis(['fork', '@last:1', '--message', "it's new"], { cwd: folder.path });
    expect(forked.stderr).toMatch(/^next: chassis run --session \w+ -- 'it'\\''s new'$/m);
    rmSync(script);
    const gone = await chassis(['run', '--session', '@last', 'x', '-q'], { cwd: folder.path });
    expect(gone).toMatchObject({ code: 2, stdout: '' });
    expect(gone.stderr).toContain(script);
  });
});

describe('the way on after a failed run', () => {
  it('of a tool that failed is a fork behind the step that asked for it, and resume names the same', async () => {
    using folder = project(calls('refuse', {}, 'Done.'), strict);
    const failed = await chassis(['run', 'x', '--trust'], { cwd: folder.path });
    const [, id] = /session (\w+)/.exec(failed.stderr) ?? [];
    expect(failed.stderr).toContain(`next: chassis why ${id}   chassis show ${id}:fail\n`);
    expect(failed.stderr).toContain(
      `after repairing the tool, or what it was given: chassis fork ${id}:1 --run\n`,
    );
    const resumed = await chassis(['resume', '@last'], { cwd: folder.path });
    expect(resumed.code).toBe(2);
    expect(resumed.stderr).toContain(`chassis fork ${id}:1 --run`);
  });

  it('of a call that nobody allowed is --approve, which works as it is printed', async () => {
    using folder = project(calls('ask', {}, 'Done.'), strict);
    folder.write(
      'plugins/asker/plugin.yaml',
      'name: asker\nversion: 1.0.0\ndescription: Asks.\nchassis: ">=0.1 <1"\nkind: tool\nruntime: inline\nmodule: ./index.ts\ntools: [{ name: ask, description: Asks. }]\n',
    );
    folder.write('plugins/asker/index.ts', 'export default { tools: { ask: () => ({ asked: true }) } };\n');
    const denied = await chassis(['run', 'x', '--trust'], { cwd: folder.path });
    expect(denied.code).toBe(4);
    expect(denied.stderr).toContain('allow it with --approve ask; a tool that only reads says effects: read');
    const [, command = ''] = /to allow it: chassis (.*)/.exec(denied.stderr) ?? [];
    const resumed = await chassis(command.split(' '), { cwd: folder.path });
    expect(resumed).toMatchObject({ code: 0, stdout: 'Done.\n' });
  });

  it('of a limit is a higher one, which works as it is printed', async () => {
    using folder = project(calls('echo', {}, 'Done.'));
    const stopped = await chassis(['run', 'x', '--max-steps', '2', '--trust'], { cwd: folder.path });
    const [, command = ''] = /with a higher limit: chassis (.*)/.exec(stopped.stderr) ?? [];
    expect(command).toMatch(/^resume \w+ --max-steps 4$/);
    const resumed = await chassis(command.split(' '), { cwd: folder.path });
    expect(resumed).toMatchObject({ code: 0, stdout: 'Done.\n' });
  });
});

it('a run line has the beginning of a large value, and the model that answered', async () => {
  using folder = project(calls('echo', { text: 'abc '.repeat(30_000) }, 'Done.'));
  const ran = await chassis(['run', 'x', '--model', 'deepseek,scripted', '--trust'], { cwd: folder.path });
  expect(ran.stderr).toMatch(/tool +echo +\{"text":"abc abc /);
  expect(ran.stderr).toMatch(/1 model scripted/);
});

it('an edit that breaks the output schema of its tool is told', async () => {
  using folder = project(calls('count', {}, 'Done.'));
  folder.write(
    'plugins/counter/plugin.yaml',
    'name: counter\nversion: 1.0.0\ndescription: Counts.\nchassis: ">=0.1 <1"\nkind: tool\nruntime: inline\nmodule: ./index.ts\ntools: [{ name: count, description: Counts., effects: none, output: { type: object, properties: { words: { type: integer } } } }]\n',
  );
  folder.write('plugins/counter/index.ts', 'export default { tools: { count: () => ({ words: 1 }) } };\n');
  await chassis(['run', 'x', '--trust', '-q'], { cwd: folder.path });
  const broken = await chassis(['fork', '@last:2', '--set', '/output/words="two"'], { cwd: folder.path });
  expect(broken.code).toBe(0);
  expect(broken.stderr).toContain('the edited answer of step 2 breaks the output schema of count: /words');
  const good = await chassis(['fork', '@last:2', '--set', '/output/words=2'], { cwd: folder.path });
  expect(good.stderr).not.toContain('output schema');
});

it('resume says of each interrupted step what becomes of it', async () => {
  using folder = project(calls('wait', {}, 'Done.'));
  const running = start(['run', 'x', '--trust'], { cwd: folder.path });
  while (!existsSync(join(folder.path, 'waiting'))) await sleep(20);
  running.child.kill('SIGKILL');
  await running.ended;
  folder.write('go', '');
  const resumed = await chassis(['resume', '@last'], { cwd: folder.path });
  expect(resumed.stderr).toContain('step 2 wait: running again (it only reads)\n');
  expect(resumed.stderr).toMatch(/✓ +2 tool +wait/);
  const shown = await chassis(['show', '@last', '--json'], { cwd: folder.path });
  expect(records(shown.stdout).at(-1)?.session).toMatchObject({ outcome: 'ok' });
});

it('a step whose outcome nobody saw is not run again, and resume says so', async () => {
  using folder = project(calls('hang', {}, 'Done.'));
  folder.write(
    'plugins/hanger/plugin.yaml',
    'name: hanger\nversion: 1.0.0\ndescription: Hangs.\nchassis: ">=0.1 <1"\nkind: tool\nruntime: inline\nmodule: ./index.ts\ntools: [{ name: hang, description: Hangs., effects: write, approval: auto }]\n',
  );
  folder.write(
    'plugins/hanger/index.ts',
    "import { writeFileSync } from 'node:fs';\nexport default { tools: { hang: () => { writeFileSync('waiting', ''); return new Promise(() => {}); } } };\n",
  );
  const running = start(['run', 'x', '--trust'], { cwd: folder.path });
  while (!existsSync(join(folder.path, 'waiting'))) await sleep(20);
  running.child.kill('SIGKILL');
  await running.ended;
  const resumed = await chassis(['resume', '@last'], { cwd: folder.path });
  expect(resumed.stderr).toContain('step 2 hang: its outcome is unknown; not run again, the model is told\n');
});
