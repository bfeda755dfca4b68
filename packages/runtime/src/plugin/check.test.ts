import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { inlineManifest, projectFolder } from '../testing/project-folder.ts';
import { checkPlugin } from './check.ts';
import { pluginScaffold } from './scaffold.ts';

describe('checking a plugin without running it', () => {
  test('finds everything that can be found, each with its place', async () => {
    using folder = projectFolder({
      'p/plugin.yaml': inlineManifest(
        'p',
        'config: { type: objcet }\ntools:\n  - { name: a, description: x, input: { type: object, required: yes } }\nskills: [./how]\n',
      ),
    });
    const check = await checkPlugin(`${folder.root}/p`);
    expect(check).toMatchObject({ name: 'p', ok: false });
    const file = `${folder.root}/p/plugin.yaml`;
    expect(check.findings.map((finding) => `${finding.level} ${finding.message}`)).toEqual([
      expect.stringMatching(`error ${file}:6:17: expected .*did you mean "object"`),
      expect.stringContaining(`error ${file}:8:65: expected a list, found a string ("yes")`),
      `error ${file}:5:9: there is no file ./index.mjs`,
      `error ${file}:9:10: the folder of skills ${folder.root}/p/how cannot be read: it does not exist`,
      `warning ${file}:8:5: a does not say its effects, so it counts as external and asks`,
    ]);
  });

  test('says that a folder has no manifest', async () => {
    using folder = projectFolder({ 'p/main.py': '' });
    const { findings } = await checkPlugin(`${folder.root}/p`);
    expect(findings).toEqual([{ level: 'error', message: `there is no plugin.yaml in ${folder.root}/p` }]);
  });

  test('names a program that is not there', async () => {
    using folder = projectFolder({
      'p/plugin.yaml':
        'name: p\nversion: 1.0.0\ndescription: x\nruntime: process\ncommand: [no-such-program]\nprotocol: jsonrpc\n',
    });
    const { findings, ok } = await checkPlugin(`${folder.root}/p`, { PATH: '/bin' });
    expect(ok).toBe(true);
    expect(findings.map((finding) => finding.message)).toEqual([
      `${folder.root}/p/plugin.yaml:5:10: "no-such-program" was not found in PATH (/bin)`,
    ]);
  });

  test('reports a manifest that cannot be read', async () => {
    using folder = projectFolder({ 'p/plugin.yaml': 'name: [' });
    expect(await checkPlugin(`${folder.root}/p`)).toMatchObject({ name: null, ok: false });
  });
});

describe('a new plugin', () => {
  test.each(['typescript', 'python'] as const)('in %s passes the check', async (kind) => {
    using folder = projectFolder({});
    const written = await pluginScaffold({ kind, name: 'word-count', folder: `${folder.root}/plugins/w` });
    expect(written).toHaveLength(2);
    expect(await checkPlugin(`${folder.root}/plugins/w`)).toMatchObject({
      name: 'word-count',
      ok: true,
      findings: [],
    });
  });

  test('never overwrites anything', async () => {
    using folder = projectFolder({ 'plugins/w/mine.txt': 'mine' });
    const scaffold = { kind: 'python', name: 'w', folder: `${folder.root}/plugins/w` } as const;
    await expect(pluginScaffold(scaffold)).rejects.toThrow('is not empty');
    expect(readFileSync(`${folder.root}/plugins/w/mine.txt`, 'utf8')).toBe('mine');
  });

  test.each(['My Plugin', '../x', 'a--b', 'paths', ''])('with the name %j is refused', async (name) => {
    using folder = projectFolder({});
    await expect(pluginScaffold({ kind: 'python', name, folder: `${folder.root}/x` })).rejects.toThrow(
      'no plugin name',
    );
  });
});
