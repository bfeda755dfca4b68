/** Plugins of a process that runs: reached from another command, changed while their calls run. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { chassis, PATIENCE_MS, records, start } from './support/chassis.ts';
import { project, says } from './support/project.ts';

const turns = `  - { call: [{ name: wait, arguments: {} }] }
  - { call: [{ name: word, arguments: {} }] }
${says('The word is {{ results.word[0] }}.')}`;

const manifest = (more = '') =>
  `name: extra\nversion: 1.0.0\ndescription: Says a word.\nruntime: inline\nmodule: ./index.ts\ntools: [{ name: word, description: Says a word., effects: none }]\n${more}`;
const code = (word: string) => `export default { tools: { word: () => '${word}' } };\n`;

function withExtra() {
  const folder = project(turns);
  folder.write('plugins/extra/plugin.yaml', manifest());
  folder.write('plugins/extra/index.ts', code('old'));
  return folder;
}

async function underWay(folder: { readonly path: string }, ...more: string[]) {
  const run = start(['run', ...more, 'Go'], { cwd: folder.path });
  await vi.waitFor(() => expect(existsSync(join(folder.path, 'waiting'))).toBe(true), {
    timeout: PATIENCE_MS,
  });
  return run;
}

it('a running process is asked by doctor, reloads a plugin, and its session says so', async () => {
  using folder = withExtra();
  const { path: cwd } = folder;
  const run = await underWay(folder, '--trust');
  const running = join(cwd, '.chassis', 'running');
  const [socket = ''] = readdirSync(running).filter((name) => name.endsWith('.sock'));
  expect(statSync(join(running, socket)).mode & 0o777).toBe(0o600);
  expect(statSync(running).mode & 0o777).toBe(0o700);

  const asked = await chassis(['doctor'], { cwd });
  expect(asked.stdout).toMatch(/running +process \d+ \(run, since .*\): ready/);
  // The code has changed: not before somebody says yes to it.
  folder.write('plugins/extra/index.ts', code('new'));
  const refused = await chassis(['plugin', 'reload', 'extra'], { cwd });
  expect(refused).toMatchObject({ code: 2, stdout: '' });
  expect(refused.stderr).toContain('plugin extra');
  expect(refused.stderr).toContain('needs your trust');
  folder.write('plugins/extra/index.ts', 'export default {');
  const broken = await chassis(['plugin', 'reload', 'extra', '--trust'], { cwd });
  expect(broken).toMatchObject({ code: 3 });
  expect(broken.stderr).toMatch(/process \d+ \(run\): plugin extra cannot be reloaded: .*extra\/index\.ts/);
  folder.write('plugins/extra/index.ts', code('new'));
  const reloaded = await chassis(['plugin', 'reload', 'extra', '--trust', '--json'], { cwd });
  expect(records(reloaded.stdout).at(-1)).toMatchObject({
    ok: true,
    reloaded: [{ pid: run.child.pid, command: 'run', plugin: { name: 'extra', state: 'active' } }],
  });
  const kept = await chassis(['rpc', `unix:${join(running, socket)}`, 'plugin.unload', '{"name":"nope"}'], {
    cwd,
  });
  expect(kept).toMatchObject({ code: 2 });
  expect(kept.stderr).toContain('there is no plugin "nope"');

  folder.write('go', '');
  const ended = await run.ended;
  expect(ended.stdout).toContain('The word is new.');
  expect(readdirSync(running)).toEqual([]);
  const log = await chassis(['log', '@last', '--json'], { cwd });
  const changes = records(log.stdout).filter(({ type }) => type === 'plugin.changed');
  expect(changes).toMatchObject([
    { data: { plugin: 'extra', change: 'reloaded', data: { version: '1.0.0' } } },
  ]);
}, 300_000);

it('with --watch a changed file is taken in, a broken one is told and left out', async () => {
  using folder = withExtra();
  const run = await underWay(folder, '--trust', '--watch');
  folder.write('plugins/extra/plugin.yaml', manifest('nonsense: 1\n'));
  await run.seen(/not taken in: .*plugin\.yaml:7:1: unknown key "nonsense"/);
  folder.write('plugins/extra/index.ts', code('new'));
  folder.write('plugins/extra/plugin.yaml', manifest());
  await run.seen(/reloaded extra 1\.0\.0/);
  folder.write('plugins/more/plugin.yaml', manifest().replace('extra', 'more').replaceAll('word', 'another'));
  folder.write('plugins/more/index.ts', `export default { tools: { another: () => 1 } };\n`);
  await run.seen(/reloaded more 1\.0\.0/);
  folder.write('go', '');
  expect((await run.ended).stdout).toContain('The word is new.');
}, 300_000);

it('a killed process is no running one; reload then says whether the plugin starts', async () => {
  using folder = withExtra();
  const { path: cwd } = folder;
  const run = await underWay(folder, '--trust');
  run.child.kill('SIGKILL');
  await run.ended;
  expect(readdirSync(join(cwd, '.chassis', 'running'))).toHaveLength(2);
  const reloaded = await chassis(['plugin', 'reload', 'extra'], { cwd });
  expect(reloaded.stdout).toBe('✓ extra 1.0.0 starts; nothing of this project is running\n');
  expect(readdirSync(join(cwd, '.chassis', 'running'))).toEqual([]);
  const unloaded = await chassis(['plugin', 'unload', 'extra'], { cwd });
  expect(unloaded).toMatchObject({ code: 2 });
  expect(unloaded.stderr).toContain('nothing of this project is running');
}, 300_000);
