/** A plugin that cannot register must cost only what needs it: a healthy fallback, or a healthy first choice, goes on. */
import { expect, it } from 'vitest';
import { chassis, records } from './support/chassis.ts';
import { project, says } from './support/project.ts';

function withBroken() {
  const folder = project(says('Hi.'));
  folder.write(
    'plugins/broken/plugin.yaml',
    'name: broken\nversion: 1.0.0\ndescription: x\nkind: model\nruntime: inline\nmodule: ./index.mjs\nmodels: [pinned]\nagents: [harness]\n',
  );
  folder.write(
    'plugins/broken/index.mjs',
    `export default { on_load() { throw new Error('database file is locked (PLAN-REASON-42)'); } };\n`,
  );
  return folder;
}

it('whatever place the broken one has in the chain, a healthy model answers', {
  timeout: 300_000,
}, async () => {
  using folder = withBroken();
  const { path: cwd } = folder;
  for (const chain of ['pinned,scripted', 'scripted,pinned', 'scripted']) {
    folder.write('script.yaml', `turns:\n${says('Hi.')}`);
    const ran = await chassis(['run', '--trust', '-q', '--model', chain, 'Go'], { cwd });
    expect(ran, `${chain}: ${ran.stderr}`).toMatchObject({ code: 0, stdout: 'Hi.\n' });
  }
});

it('with no other way the root cause and its place are told, by run, by doctor, and for an agent', {
  timeout: 300_000,
}, async () => {
  using folder = withBroken();
  const { path: cwd } = folder;
  const cause = 'database file is locked (PLAN-REASON-42)';
  for (const args of [
    ['--model', 'pinned'],
    ['--agent', 'harness'],
  ]) {
    const ran = await chassis(['run', '--trust', '--json', ...args, 'Go'], { cwd });
    expect(ran.code).toBe(3);
    expect(records(ran.stdout).at(-1)).toMatchObject({
      ok: false,
      error: { code: -32004, data: { owner: 'broken', phase: 'on_load', cause: { message: cause } } },
    });
  }
  const asked = await chassis(['doctor', '--config', 'model=pinned'], { cwd });
  expect(asked.code).toBe(1);
  expect(asked.stdout).toContain(`demand    model.pinned is unavailable (on_load): ${cause}`);
});

it('a model that a mistake in the configuration keeps away: the mistake is told, with its place', async () => {
  using folder = project(says('Hi.'));
  folder.write(
    'chassis.yaml',
    'model: lab\nplugins:\n  openai-compatible:\n    config:\n      modells: {}\n',
  );
  const ran = await chassis(['run', '--trust', 'Go'], { cwd: folder.path });
  expect(ran.code).toBe(2);
  expect(ran.stderr).toMatch(/chassis\.yaml:5:\d+: unknown key "modells".*models/);
});
