import { execFileSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { inlineManifest, projectFolder } from '../testing/project-folder.ts';

describe('the catalogue', () => {
  test('takes the first copy in the search order and lists the others as shadowed', async () => {
    using folder = projectFolder({
      'plugins/a/plugin.yaml': inlineManifest('a'),
      'home/.config/chassis/plugins/a/plugin.yaml': inlineManifest('a'),
      'first/a/plugin.yaml': inlineManifest('a'),
      'first/z/plugin.yaml': inlineManifest('z'),
      'given/plugin.yaml': inlineManifest('a'),
    });
    const { catalogue } = await folder.open({ pluginPaths: ['given'], firstParty: [`${folder.root}/first`] });
    expect(catalogue.entries.map((entry) => [entry.name, entry.origin])).toEqual([
      ['a', 'option'],
      ['z', 'first-party'],
    ]);
    expect(catalogue.shadowed.map((copy) => copy.origin)).toEqual(['project', 'user', 'first-party']);
  });

  test('keeps a broken manifest as a record that hurts only its own plugin', async () => {
    using folder = projectFolder({
      'plugins/good/plugin.yaml': inlineManifest('good'),
      'plugins/bad/plugin.yaml': `${inlineManifest('orders')}tols: []\ntools: [{ name: fetch, description: x }]\n`,
      'first/orders/plugin.yaml': inlineManifest('orders'),
    });
    const { catalogue } = await folder.open({ firstParty: [`${folder.root}/first`] });
    expect(catalogue.entries.map((entry) => entry.name)).toEqual(['good']);
    expect(catalogue.broken).toMatchObject([
      {
        name: 'orders',
        tools: ['fetch'],
        record: {
          capability: 'plugin.orders',
          phase: 'manifest',
          cause: {
            message: `${folder.root}/plugins/bad/plugin.yaml:6:1: unknown key "tols"; did you mean "tools"?`,
          },
          alternatives: [`${folder.root}/first/orders`],
        },
      },
    ]);
  });

  test('records a block, a package and a manifest name that lead nowhere', async () => {
    using folder = projectFolder({
      'chassis.yaml': 'plugins:\n  npm: [not-there]\n  ordres: { enabled: true }\n',
      'plugins/orders/plugin.yaml': inlineManifest('orders'),
      'plugins/near/plugin.yml': inlineManifest('near'),
      'plugins/bare/main.py': '',
      'plugins/shared/words.py': '',
    });
    const { catalogue } = await folder.open();
    expect(catalogue.missing.map((record) => record.cause.message)).toEqual([
      `there is no plugin.yaml in ${folder.root}/plugins/bare`,
      `${folder.root}/plugins/near/plugin.yml: a manifest is named plugin.yaml`,
      `${folder.root}/chassis.yaml:2:9: package not-there is not installed`,
      `${folder.root}/chassis.yaml:3:11: there is no plugin "ordres"; did you mean "orders"?`,
    ]);
  });

  test('refuses a path that a person gave and that is no plugin', async () => {
    using folder = projectFolder({ 'empty/x.txt': '' });
    await expect(folder.open({ pluginPaths: ['empty'] })).rejects.toThrow('--plugin');
    await expect(folder.open({ pluginPaths: ['gone'] })).rejects.toThrow('does not exist');
    await expect(folder.open({ overrides: ['plugins.paths=["gone"]'] })).rejects.toThrow(
      '--config plugins.paths',
    );
  });

  test('gives every plugin a content hash that changes with its files, and not with node_modules', async () => {
    using folder = projectFolder({
      'plugins/a/plugin.yaml': inlineManifest('a'),
      'plugins/a/index.mjs': '1',
    });
    const digest = async () => (await folder.open()).catalogue.find('a')?.digest;
    const before = await digest();
    expect(before).toMatch(/^[0-9a-f]{64}$/);
    folder.write({ 'plugins/a/node_modules/x/y.js': '1', 'plugins/a/__pycache__/z': '1' });
    expect(await digest()).toBe(before);
    folder.write({ 'plugins/a/index.mjs': '2' });
    expect(await digest()).not.toBe(before);
  });

  test('keeps a plugin whose files cannot be read as a record of its own', async () => {
    using folder = projectFolder({
      'plugins/a/plugin.yaml': inlineManifest('a', 'tools: [{ name: t, description: x }]'),
      'plugins/b/plugin.yaml': inlineManifest('b'),
    });
    // Folders so deep that their path is too long to be opened, even by root.
    const deep = "import os\nfor _ in range(20):\n    os.mkdir('x' * 250)\n    os.chdir('x' * 250)";
    execFileSync('python3', ['-c', deep], { cwd: `${folder.root}/plugins/a` });
    try {
      const { catalogue } = await folder.open();
      expect(catalogue.entries.map((entry) => entry.name)).toEqual(['b']);
      expect(catalogue.broken).toMatchObject([
        { name: 'a', tools: ['t'], record: { phase: 'manifest', cause: { code: -32004 } } },
      ]);
    } finally {
      execFileSync('rm', ['-rf', `${folder.root}/plugins/a`]);
    }
  });
});
