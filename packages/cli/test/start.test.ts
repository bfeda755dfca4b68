/** The first minutes with it: init, a first plugin in either language, trust, doctor. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { chassis, records, tempFolder } from './support/chassis.ts';
import { project, says } from './support/project.ts';

describe('chassis init', () => {
  it.each([
    ['TypeScript', []],
    ['Python', ['--python']],
  ])('makes a project whose plugin in %s runs at once, offline', async (_language, options) => {
    using home = tempFolder();
    const made = await chassis(['init', 'my agent', ...options], { cwd: home.path });
    expect(made).toMatchObject({ code: 0, stderr: '' });
    expect(made.stdout).toContain('chassis run "How many words are in this sentence?"');
    const cwd = join(home.path, 'my agent');
    // The same home: whoever made the project need not be asked about it.
    const env = { HOME: join(home.path, '.home') };
    const ran = await chassis(['run', 'How many words are in this sentence?', '-q'], { cwd, env });
    expect(ran).toMatchObject({ code: 0, stdout: 'Your message has 7 words.\n' });
    const shown = await chassis(['show', '@last'], { cwd, env });
    expect(shown.stdout).toMatch(/tool +text_count_words +ok .*text 0\.1\.0/);
    expect(readFileSync(join(cwd, '.gitignore'), 'utf8')).toBe('.chassis/\n');

    const again = await chassis(['init', 'my agent'], { cwd: home.path });
    expect(again).toMatchObject({ code: 2, stdout: '' });
    expect(again.stderr).toContain('is there already: nothing was written');

    const more = await chassis(['plugin', 'new', 'weather', ...options], { cwd, env });
    expect(more.code).toBe(0);
    const checked = await chassis(['plugin', 'check', 'plugins/weather'], { cwd, env });
    expect(checked).toMatchObject({
      code: 0,
      stdout: '✓ weather is sound and starts: weather_count_words\n',
    });
  });
});

describe('a project that somebody else wrote', () => {
  it('runs nothing before it is trusted, and asks again when its code changes', async () => {
    using folder = project(says('Hi.'));
    folder.write(
      'plugins/gate/index.ts',
      "import { writeFileSync } from 'node:fs';\nwriteFileSync(new URL('./ran', import.meta.url), '');\nexport default { tools: {} };\n",
    );
    const refused = await chassis(['run', 'x', '-q'], { cwd: folder.path });
    expect(refused).toMatchObject({ code: 2, stdout: '' });
    expect(refused.stderr).toMatch(/needs your trust: plugin gate; .*--trust\n$/);
    expect(existsSync(join(folder.path, 'plugins/gate/ran'))).toBe(false);
    // Looking needs no trust.
    expect(await chassis(['ls'], { cwd: folder.path })).toMatchObject({ code: 0 });

    const trusted = await chassis(['trust', '--trust'], { cwd: folder.path });
    expect(trusted.stdout).toContain('plugin gate runs ./index.ts');
    expect(await chassis(['run', 'x', '-q'], { cwd: folder.path })).toMatchObject({
      code: 0,
      stdout: 'Hi.\n',
    });
    expect(existsSync(join(folder.path, 'plugins/gate/ran'))).toBe(true);

    folder.write('plugins/gate/index.ts', 'export default { tools: {} };\n');
    const changed = await chassis(['run', 'x', '-q'], { cwd: folder.path });
    expect(changed).toMatchObject({ code: 2, stdout: '' });
    expect(changed.stderr).toContain('has changed since you trusted it');
  });
});

describe('looking at the set-up', () => {
  it('doctor names what is wrong, its cause and what to do, and never a value of a key', async () => {
    using folder = project(says('Hi.'));
    folder.write('plugins/broken/plugin.yaml', 'name: broken\nversion: 1\n');
    const key = 'sk-0123456789abcdef0123';
    const ended = await chassis(['doctor', '--trust'], { cwd: folder.path, env: { DEEPSEEK_API_KEY: key } });
    expect(ended.code).toBe(1);
    expect(ended.stdout).toMatch(/broken\/plugin\.yaml:\d+:\d+/);
    expect(ended.stdout).toContain('DEEPSEEK_API_KEY is set');
    expect(ended.stdout + ended.stderr).not.toContain(key);
    const listed = await chassis(['plugin', 'ls', '--json'], { cwd: folder.path });
    const plugins = records(listed.stdout).filter((line) => line.type === 'plugin');
    expect(plugins).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ name: 'gate', state: 'active' }),
        expect.objectContaining({ name: 'broken', state: 'failed' }),
      ]),
    );
  });

  it('config show tells where each value came from', async () => {
    using folder = project(says('Hi.'));
    const shown = await chassis(['config', 'show', '--origin', '--config', 'limits.steps=5', '--json'], {
      cwd: folder.path,
    });
    const settings = records(shown.stdout);
    expect(settings).toEqual(
      expect.arrayContaining([
        { type: 'setting', key: 'limits.steps', value: 5, origin: '--config limits.steps' },
        {
          type: 'setting',
          key: 'model.use',
          value: ['scripted'],
          origin: `${join(folder.path, 'chassis.yaml')}:1:8`,
        },
      ]),
    );
  });

  it.each(['bash', 'zsh', 'fish'])('completion %s names the commands', async (shell) => {
    using folder = tempFolder();
    const { code, stdout } = await chassis(['completion', shell], { cwd: folder.path });
    expect(code).toBe(0);
    for (const name of ['run', 'why', 'plugin', '--max-steps'.slice(shell === 'fish' ? 2 : 0)])
      expect(stdout).toContain(name);
  });

  it('rpc calls a method of a program that is started for it', async () => {
    using folder = tempFolder();
    const server = `stdio:${process.execPath} -e "process.stdin.on('data',d=>{const m=JSON.parse(d);console.log(JSON.stringify({jsonrpc:'2.0',id:m.id,result:{sum:m.params.a+m.params.b}}))})"`;
    const called = await chassis(['rpc', server, 'tool.add', '{"a":1,"b":2}', '--json'], {
      cwd: folder.path,
    });
    expect(records(called.stdout).at(-1)).toMatchObject({ ok: true, result: { sum: 3 } });
    expect(await chassis(['rpc', 'gopher:x', 'y'], { cwd: folder.path })).toMatchObject({
      code: 2,
      stdout: '',
    });
    expect(await chassis(['rpc', 'unix:/nowhere/at/all', 'y'], { cwd: folder.path })).toMatchObject({
      code: 3,
      stdout: '',
    });
  });
});
