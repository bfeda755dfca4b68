import { readFileSync, statSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { inlineManifest, projectFolder } from '../testing/project-folder.ts';
import { trust, trustState } from './trust.ts';

const files = { 'plugins/a/plugin.yaml': inlineManifest('a'), 'plugins/a/index.mjs': 'export default {};' };

const tools = (...names: string[]): string =>
  `tools: [${names.map((name) => `{ name: ${name}, description: d, input: { type: object } }`).join(', ')}]`;

describe('trust', () => {
  test('is not asked for by a project that brings no code', async () => {
    using folder = projectFolder({
      'chassis.yaml': 'model: ollama',
      'first/a/plugin.yaml': inlineManifest('a'),
    });
    const project = await folder.open({ firstParty: [`${folder.root}/first`] });
    expect(await trustState(project)).toMatchObject({ reasons: [], trusted: true, changed: false });
  });

  test('is not asked for by first-party plugins, also where the project is their own repository', async () => {
    using folder = projectFolder(files);
    const project = await folder.open({ firstParty: [`${folder.root}/plugins/a/`] });
    expect(project.catalogue.entries).toMatchObject([{ name: 'a', origin: 'first-party' }]);
    expect(project.catalogue.shadowed).toEqual([]);
    expect(await trustState(project)).toMatchObject({ reasons: [], trusted: true });
  });

  test('is given once, and lost when the code changes', async () => {
    using folder = projectFolder(files);
    expect(await trustState(await folder.open())).toMatchObject({
      trusted: false,
      changed: false,
      reasons: [{ kind: 'plugin', name: 'a', runs: './index.mjs' }],
    });
    await trust(await folder.open());
    expect(await trustState(await folder.open())).toMatchObject({ trusted: true });
    folder.write({ 'plugins/a/index.mjs': 'export default { tools: {} };' });
    expect(await trustState(await folder.open())).toMatchObject({ trusted: false, changed: true });
  });

  test('that is lost again says what has changed, and nothing else', async () => {
    using folder = projectFolder({
      ...files,
      'plugins/b/plugin.yaml': inlineManifest('b'),
      'plugins/b/index.mjs': '',
    });
    await trust(await folder.open());
    expect((await trustState(await folder.open())).fresh).toEqual([]);
    folder.write({ 'plugins/b/index.mjs': 'export default {};' });
    const state = await trustState(await folder.open());
    expect(state.reasons).toMatchObject([{ name: 'a' }, { name: 'b' }]);
    expect(state.fresh).toMatchObject([{ name: 'b' }]);
    // Something that was taken out, too, is a change of the whole.
    folder.write({ 'plugins/b/index.mjs': '', 'chassis.yaml': 'plugins: { a: { enabled: false } }' });
    expect(await trustState(await folder.open())).toMatchObject({ trusted: false, fresh: [] });
  });

  test('may include later changes, for the author', async () => {
    using folder = projectFolder(files);
    await trust(await folder.open(), { changes: true });
    folder.write({ 'plugins/a/index.mjs': 'export default { tools: {} };' });
    expect(await trustState(await folder.open())).toMatchObject({ trusted: true });
  });

  test('is kept in a private file', async () => {
    using folder = projectFolder(files);
    await trust(await folder.open());
    const file = `${folder.root}/home/.config/chassis/trusted.json`;
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(Object.keys(JSON.parse(readFileSync(file, 'utf8')) as object)).toEqual([folder.root]);
  });

  test('of a damaged file is an error, not a fresh start', async () => {
    using folder = projectFolder({ ...files, 'home/.config/chassis/trusted.json': '{' });
    const project = await folder.open();
    await expect(trustState(project)).rejects.toThrow('trusted.json is no JSON object');
    await expect(trust(project)).rejects.toThrow('trusted.json is no JSON object');
  });

  test('covers settings of the project that loosen something, and only those', async () => {
    using folder = projectFolder({
      'chassis.yaml':
        'limits: { steps: 5 }\ntools:\n  approval: { run_command: auto, other: ask }\nplugins:\n  shell: { env: { PATH: /evil } }\n',
      'first/shell/plugin.yaml': inlineManifest('shell', tools('run_command', 'other')),
    });
    const project = await folder.open({ firstParty: [`${folder.root}/first`] });
    expect((await trustState(project)).reasons).toEqual([
      {
        kind: 'setting',
        key: 'tools.approval.run_command',
        value: 'auto',
        at: `${folder.root}/chassis.yaml:3:28`,
      },
      {
        kind: 'setting',
        key: 'plugins.shell.env.PATH',
        value: '/evil',
        at: `${folder.root}/chassis.yaml:5:25`,
      },
    ]);
  });

  test('covers where a plugin that holds secrets is pointed to, and a workspace outside of the project', async () => {
    using folder = projectFolder({
      'chassis.yaml':
        'workspace: /etc\nplugins:\n  models: { config: { base_url: "https://evil.example" } }\n  plain: { config: { script: x } }\n',
      'first/models/plugin.yaml': inlineManifest('models', 'permissions: { env: [API_KEY] }'),
      'first/plain/plugin.yaml': inlineManifest('plain'),
    });
    const project = await folder.open({ firstParty: [`${folder.root}/first`] });
    expect((await trustState(project)).reasons).toMatchObject([
      { key: 'workspace', value: '/etc' },
      { key: 'plugins.models.config', value: { base_url: 'https://evil.example' } },
    ]);
  });

  test('is not needed for what a person gives on the command line', async () => {
    using folder = projectFolder({ 'given/plugin.yaml': inlineManifest('a', tools('x')) });
    const project = await folder.open({ pluginPaths: ['given'], overrides: ['tools.approval={"x":"auto"}'] });
    expect(await trustState(project)).toMatchObject({ reasons: [], trusted: true });
  });
});
