/** What helps when plugins make trouble: bisect, the safe mode, the conformance kit, and words that say what to do. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { chassis, records } from './support/chassis.ts';
import { type Project, project, says } from './support/project.ts';

const TIME = 300_000;

function add(folder: Project, name: string, code: string, more = ''): void {
  folder.write(
    `plugins/${name}/plugin.yaml`,
    `name: ${name}\nversion: 1.0.0\ndescription: x\nruntime: inline\nmodule: ./index.mjs\ntools: [{ name: ${name}_tool, description: x, effects: none }]\n${more}`,
  );
  folder.write(`plugins/${name}/index.mjs`, code);
}

const sound = (name: string) => `export default { tools: { ${name}_tool: () => '${name}' } };\n`;

describe('plugin bisect', () => {
  it('finds the one of many that takes the whole process with it', { timeout: TIME }, async () => {
    using folder = project(says('Hi.'));
    for (const name of ['a', 'b', 'd']) add(folder, name, sound(name));
    add(folder, 'c', `process.kill(process.pid, 'SIGKILL');\n`);
    add(folder, 'e', sound('e'), 'depends_on: [{ name: b }]\n');
    const found = await chassis(['plugin', 'bisect', '--trust', '--json'], { cwd: folder.path });
    expect(found, found.stderr).toMatchObject({ code: 0 });
    expect(records(found.stdout).at(-1)).toMatchObject({ ok: true, culprits: ['c'], told: 'SIGKILL' });
    expect(found.stderr).toContain('a, b, c, d, e, gate: fails: SIGKILL');
    expect(found.stderr).toContain('none: works');
  });

  it('finds the two that break a command only together, never without what they need', {
    timeout: TIME,
  }, async () => {
    using folder = project(says('Hi.'));
    for (const name of ['a', 'b', 'c']) add(folder, name, sound(name));
    add(folder, 'd', sound('d'), 'depends_on: [{ name: a }]\n');
    const check = `const on = process.env.CHASSIS_ONLY_PLUGINS.split(',');
      if (on.includes('d') && !on.includes('a')) process.exit(9);
      if (on.includes('b') && on.includes('d')) { console.error('they do not get on'); process.exit(1); }`;
    const args = ['plugin', 'bisect', '--trust', '--', 'node', '-e', check];
    const found = await chassis(args, { cwd: folder.path });
    expect(found).toMatchObject({ code: 0 });
    expect(found.stdout).toMatch(/fails with b and d: exit 1: they do not get on\n {2}b in .*plugins\/b\n/);
  });

  it('says so when nothing fails, or no plugin is the reason', { timeout: TIME }, async () => {
    using folder = project(says('Hi.'));
    const works = await chassis(['plugin', 'bisect', '--trust', '--', 'true'], { cwd: folder.path });
    expect(works).toMatchObject({ code: 1 });
    expect(works.stdout).toContain('works with all 1 plugins');
    const fails = await chassis(['plugin', 'bisect', '--', 'false'], { cwd: folder.path });
    expect(fails).toMatchObject({ code: 1 });
    expect(fails.stdout).toContain('fails without any of them too: exit 1');
    const wrong = await chassis(['plugin', 'bisect', '--', 'no-such-program-x'], { cwd: folder.path });
    expect(wrong).toMatchObject({ code: 2 });
  });
});

it('--safe-mode starts what comes with Chassis, touches nothing else, and leaves a guard no way round', {
  timeout: TIME,
}, async () => {
  using folder = project(
    `  - { call: [{ name: echo, arguments: {} }, { name: list_files, arguments: {} }] }\n${says('Done.')}`,
  );
  const { path: cwd } = folder;
  add(
    folder,
    'bad',
    `import { writeFileSync } from 'node:fs'; writeFileSync(${JSON.stringify(join(cwd, 'canary'))}, '');\n`,
  );
  const listed = await chassis(['plugin', 'ls', '--safe-mode', '--json'], { cwd });
  const plugins = records(listed.stdout).filter(({ type }) => type === 'plugin');
  const state = (name: string) => plugins.find((plugin) => plugin.name === name);
  expect(state('bad')).toMatchObject({
    state: 'disabled',
    unavailable: {
      cause: { message: 'plugin bad is left out by --safe-mode' },
      fix: 'start without --safe-mode',
    },
  });
  expect(state('scripted')).toMatchObject({ state: 'active' });
  expect(existsSync(join(cwd, 'canary'))).toBe(false);
  const ran = await chassis(['run', '--safe-mode', '--json', 'Go'], { cwd });
  expect(ran.stdout).toContain('plugin gate is left out by --safe-mode');
  add(folder, 'watch-dog', sound('watch-dog'), 'criticality: guard\n');
  folder.write(
    'plugins/watch-dog/plugin.yaml',
    `name: watch-dog\nversion: 1.0.0\ndescription: x\nruntime: inline\nmodule: ./index.mjs\ncriticality: guard\n`,
  );
  const guarded = await chassis(['run', '--safe-mode', '--json', 'Go'], { cwd });
  expect(guarded.stdout).toContain(
    'no tool may run while the guard watch-dog is down: plugin watch-dog is left out by --safe-mode',
  );
});

it('plugin test runs the conformance kit against the real plugin, with its block of the configuration', {
  timeout: TIME,
}, async () => {
  using folder = project(says('Hi.'), '  typed: { config: { answer: forty-two } }\n');
  const { path: cwd } = folder;
  folder.write(
    'plugins/typed/plugin.yaml',
    `name: typed\nversion: 1.0.0\ndescription: x\nruntime: inline\nmodule: ./index.mjs\nconfig: { type: object, required: [answer] }\ndepends_on: [{ name: gate }]\ntools:\n  - { name: number, description: x, effects: none, output: { type: integer } }\n  - { name: change, description: x, input: { type: object, required: [to] } }\n`,
  );
  folder.write(
    'plugins/typed/index.mjs',
    `let answer; export default { on_load(config) { answer = config.answer; }, tools: { number: () => answer, change: ({ to }) => to } };\n`,
  );
  const untrusted = await chassis(['plugin', 'test', 'typed'], { cwd });
  expect(untrusted).toMatchObject({ code: 2 });
  expect(untrusted.stderr).toContain('needs your trust');
  const args = ['plugin', 'test', 'typed', '--with', 'plugins/gate', '--call', 'change={"to":1}', '--trust'];
  const failed = await chassis(args, { cwd });
  expect(failed).toMatchObject({ code: 1 });
  expect(failed.stdout).toContain('✓ it loads and is ready in time\n');
  expect(failed.stdout).toContain(
    '✗ number answers a Result that keeps its output schema\n    expected a whole number, found a string ("forty-two")',
  );
  expect(failed.stdout).toContain('✓ change answers a Result that keeps its output schema\n');
  expect(failed.stdout).not.toContain('wait answers');
  folder.write(
    'plugins/typed/index.mjs',
    `export default { tools: { number: () => 42, change: () => 1 } };\n`,
  );
  const passed = await chassis(args, { cwd });
  expect(passed).toMatchObject({ code: 0 });
  expect(passed.stdout).toMatch(/\ntyped keeps what the harness relies on: \d+ checks\n$/);
});

it('a broken script is told once, and a missing key is to be set', { timeout: TIME }, async () => {
  using folder = project('  - { sya: Hi. }\n');
  const ran = await chassis(['run', '--trust', 'Go'], { cwd: folder.path });
  expect(ran).toMatchObject({ code: 2, stdout: '' });
  expect(ran.stderr.match(/unknown key "sya"/g)).toHaveLength(1);
  const noKey = await chassis(['run', 'Go', '--model', 'deepseek'], { cwd: folder.path });
  expect(noKey).toMatchObject({ code: 3 });
  expect(noKey.stdout + noKey.stderr).toContain('after setting the key: chassis resume');
});
