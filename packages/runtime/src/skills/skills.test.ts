/** Skills: found by their front matter, shown by name and description, read on demand, and never beyond their folder. */
import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isUnavailable } from '../capability.ts';
import type { LiveRegistry } from '../registry/options.ts';
import { plugin, running } from '../testing/plugins.ts';
import { invocation, projectFolder } from '../testing/project-folder.ts';
import { parseSkill } from './skill.ts';

const skill = (name: string, description = `Use for ${name}.`, body = `How to ${name}.`) =>
  `---\nname: ${name}\ndescription: ${description}\n---\n\n${body}\n`;

/** A plugin that brings skills and nothing else. */
const only = (name: string, ...skills: string[]) => ({
  [`plugins/${name}/plugin.yaml`]: `name: ${name}\nversion: 1.0.0\ndescription: x\nskills: [./skills]\n`,
  ...Object.fromEntries(skills.map((one) => [`plugins/${name}/skills/${one}/SKILL.md`, skill(one)])),
});

async function read(registry: LiveRegistry, input: { name: string; file?: string }) {
  const found = registry.resolveTool('skill');
  if (isUnavailable(found)) throw new Error(found.cause.message);
  return found.invoke(invocation({ tool: 'skill', input }));
}

const shown = (registry: LiveRegistry): string =>
  registry.tools().find(({ name }) => name === 'skill')?.definition.description ?? '';

describe('the front matter', () => {
  test.each([
    ['# How to', 'SKILL.md:1:1: a skill begins with a line ---'],
    ['---\nname: a\n', 'SKILL.md:1:1: a skill begins with a line ---'],
    ['\n---\nname: a\ndescription: b\n---\n', 'SKILL.md:1:1: a skill begins with a line ---'],
    ['---\nname: a\n---\n', '"description" is missing'],
    ['---\nname: A b\ndescription: x\n---\n', 'SKILL.md:2:7: '],
    ['---\nname: a\ndescription: [1]\n---\n', 'SKILL.md:3:14: expected a string'],
    ['---\nname: a\ndescription: b: c\n---\n', 'SKILL.md:3:'],
    [`---\nname: a\ndescription: ${'x'.repeat(1025)}\n---\n`, 'SKILL.md:3:14: '],
  ])('%j is refused with its place', (text, message) => {
    expect(() => parseSkill(text, 'SKILL.md')).toThrow(message);
  });

  test.each([
    [
      'with other keys',
      '---\nname: a\ndescription: b\nallowed-tools: Bash(*)\nmetadata: { x: y }\n---\nBody',
      'Body',
    ],
    ['with a rule in its text', '---\nname: a\ndescription: b\n---\nOne\n---\nTwo\n', 'One\n---\nTwo'],
    ['with CRLF and a byte-order mark', '\uFEFF---\r\nname: a\r\ndescription: b\r\n---\r\nBody\r\n', 'Body'],
    ['without a text', '---\nname: a\ndescription: b\n---', ''],
  ])('%s is taken', (_what, text, body) => {
    expect(parseSkill(text, 'SKILL.md')).toEqual({ name: 'a', description: 'b', body });
  });
});

describe('a model', () => {
  test('is shown names and descriptions; text and files come when it asks', async () => {
    using folder = projectFolder({
      'skills/refund/SKILL.md': skill('refund', 'Paying money back.', 'See steps.md.'),
      'skills/refund/steps.md': 'First look, then pay.',
      'skills/refund/.git/x': 'hidden',
      '.agents/skills/tidy/SKILL.md': skill('tidy'),
      ...only('more', 'extra'),
    });
    await using registry = await running(folder);
    expect(registry.problems()).toEqual([]);
    expect(shown(registry).split('\n').slice(1)).toEqual([
      '- extra: Use for extra.',
      '- refund: Paying money back.',
      '- tidy: Use for tidy.',
    ]);
    expect(shown(registry)).not.toContain('See steps');
    const { data } = await read(registry, { name: 'refund' });
    expect(data).toEqual({
      name: 'refund',
      content: 'See steps.md.',
      folder: join(folder.root, 'skills/refund'),
      files: ['steps.md'],
      digest: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    expect((await read(registry, { name: 'refund', file: 'steps.md' })).data).toEqual({
      name: 'refund',
      file: 'steps.md',
      content: 'First look, then pay.',
    });
    expect(registry.plugins().find(({ name }) => name === 'more')).toMatchObject({
      state: 'active',
      skills: ['extra'],
    });
  });

  test('is told what is wrong with what it asks for, and reaches nothing beyond the folder', async () => {
    using folder = projectFolder({
      'skills/a/SKILL.md': skill('a'),
      'skills/a/big.txt': 'x'.repeat(256 * 1024 + 1),
      'skills/a/steps.md': 'x',
      'secret.txt': 'no',
    });
    symlinkSync(join(folder.root, 'secret.txt'), join(folder.root, 'skills/a/link.txt'));
    await using registry = await running(folder);
    const told = async (input: { name: string; file?: string }) =>
      (await read(registry, input)).error?.message;
    expect(await told({ name: 'b' })).toBe('there is no skill "b"');
    expect(await told({ name: 'a', file: 'step.md' })).toBe(
      'the skill a has no file step.md; did you mean "steps.md"?',
    );
    expect(await told({ name: 'a', file: 'big.txt' })).toContain('262145 bytes are more than the 262144');
    for (const file of [
      'link.txt',
      '../../secret.txt',
      '..',
      '.',
      join(folder.root, 'secret.txt'),
      '../missing',
    ])
      expect(await told({ name: 'a', file })).toBe(`${file} is not within the folder of the skill a`);
  });

  test('is shown as much as there is room for: many long descriptions are cut, none is left out', async () => {
    const names = Array.from({ length: 40 }, (_, k) => `s${k}`);
    using folder = projectFolder(
      Object.fromEntries(
        names.map((name) => [`skills/${name}/SKILL.md`, skill(name, `${name} ${'word '.repeat(180)}`)]),
      ),
    );
    await using registry = await running(folder);
    const lines = shown(registry).split('\n').slice(1);
    expect(lines).toHaveLength(40);
    expect(lines.join('').length).toBeLessThan(17_000);
    for (const line of lines) expect(line).toMatch(/^- s\d+: s\d+ word .*…$/);
  });
});

describe('which skills there are', () => {
  test('the first in the order wins; two plugins with one name keep both; each is told', async () => {
    using folder = projectFolder({
      'chassis.yaml': 'skills: { paths: [shared] }\n',
      'shared/a/SKILL.md': skill('a', 'Shared.'),
      'skills/a/SKILL.md': skill('a', 'Of the project.'),
      'home/.config/chassis/skills/u/SKILL.md': skill('u'),
      ...only('p', 'a', 'both'),
      ...only('q', 'both'),
    });
    const { skills } = await folder.open();
    expect(skills.found.map(({ name, origin }) => `${name} ${origin}`)).toEqual([
      'a config',
      'p/both plugin',
      'q/both plugin',
      'u user',
    ]);
    expect(skills.shadowed.map((one) => one.folder)).toEqual([
      join(folder.root, 'skills/a'),
      join(folder.root, 'plugins/p/skills/a'),
    ]);
  });

  test('a broken one costs only itself and says where it is broken', async () => {
    using folder = projectFolder({
      'skills/good/SKILL.md': skill('good'),
      'skills/bad/SKILL.md': '---\nname: bad\n---\n',
      'skills/small/skill.md': skill('small'),
      'skills/notes/readme.md': 'no skill at all',
      ...plugin('code', { manifest: 'skills: [./skills/s, ../../skills]' }),
    });
    const project = await folder.open();
    expect(project.skills.found.map(({ name }) => name)).toEqual(['good']);
    expect(project.skills.broken.map(({ capability, cause }) => `${capability} ${cause.message}`)).toEqual([
      expect.stringMatching(/^skill\.bad .*skills\/bad\/SKILL\.md:2:1: "description" is missing/),
      expect.stringMatching(/^skill\.small .*skill\.md: the file of a skill is named SKILL\.md$/),
    ]);
    expect(project.catalogue.broken[0]?.record.cause.message).toContain("leads out of the plugin's folder");
  });

  test('those of a plugin come and go with it, and code beside them still needs its runtime', async () => {
    using folder = projectFolder({ ...only('p', 'one'), 'skills/two/SKILL.md': skill('two') });
    await using registry = await running(folder);
    expect(registry.skills().map(({ name }) => name)).toEqual(['one', 'two']);
    await registry.unload('p');
    expect(registry.skills().map(({ name }) => name)).toEqual(['two']);
    expect(shown(registry)).not.toContain('- one');
    mkdirSync(join(folder.root, 'plugins/p/skills/three'), { recursive: true });
    folder.write({ 'plugins/p/skills/three/SKILL.md': skill('three') });
    await registry.reload('p');
    expect(registry.skills().map(({ name }) => name)).toEqual(['one', 'three', 'two']);
    rmSync(join(folder.root, 'plugins/p/skills/three'), { recursive: true });
    expect((await read(registry, { name: 'three' })).error?.message).toContain(
      'SKILL.md: cannot be read: it does not exist',
    );
    folder.write({
      'plugins/p/plugin.yaml':
        'name: p\nversion: 1.0.0\ndescription: x\nskills: [./skills]\ntools: [{ name: t, description: x }]\n',
    });
    await expect(registry.reload('p')).rejects.toThrow(
      '"runtime" is missing: inline, worker, process, mcp or http',
    );
  });

  test('the project has its word: a denied tool shows none of them', async () => {
    using folder = projectFolder({
      'chassis.yaml': 'tools: { deny: [skill] }\n',
      'skills/a/SKILL.md': skill('a'),
    });
    await using registry = await running(folder);
    expect(registry.tools()).toEqual([]);
    await expect(read(registry, { name: 'a' })).rejects.toThrow(
      'chassis.yaml:1:17: the tool plugin.chassis.skill is denied',
    );
  });
});
