import { existsSync, globSync, readFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { describe, expect, test } from 'vitest';
import { reference } from '../src/reference/index.ts';
import { commandsOf, missingLine, type Page, readPage } from './docs/page.ts';
import { openShell } from './docs/shell.ts';

const root = join(import.meta.dirname, '../../..');
const english = ['README.md', ...globSync('docs/*.md', { cwd: root }).sort()];
const chinese = ['README.zh-CN.md', ...globSync('docs/zh-CN/*.md', { cwd: root }).sort()];
const twin = (page: string): string =>
  page === 'README.md' ? 'README.zh-CN.md' : `docs/zh-CN/${basename(page)}`;

describe('what a page shows is what happens', () => {
  for (const name of english) {
    const page = readPage(join(root, name));
    if (!page.blocks.some(({ language }) => language === 'console')) continue;
    test.concurrent(name, { timeout: 300_000 }, async () => {
      await walkThrough(name, page);
    });
  }
});

/** Follows a page from top to bottom: writes its files, types its commands, and looks at what comes back. */
async function walkThrough(name: string, page: Page): Promise<void> {
  const shell = openShell();
  try {
    for (const block of page.blocks) {
      if (block.title !== undefined) shell.write(block.title, block.text);
      if (block.language !== 'console') continue;
      for (const command of commandsOf(block)) {
        const { exit, output } = await shell.run(command.text);
        const where = `${name}:${command.line}: $ ${command.text}\n${output}`;
        expect(exit, where).toBe(command.exit);
        expect(missingLine(command.shown, output), where).toBeUndefined();
      }
    }
  } finally {
    shell.close();
  }
}

describe('both languages say the same', () => {
  test('there is a Chinese page for every English one, and no other', () => {
    expect(chinese).toEqual(english.map(twin).sort((a, b) => chinese.indexOf(a) - chinese.indexOf(b)));
    expect(chinese).toHaveLength(english.length);
  });

  test.each(english)('%s', (name) => {
    const [one, other] = [readPage(join(root, name)), readPage(join(root, twin(name)))];
    expect(other.headings.map(({ level }) => level)).toEqual(one.headings.map(({ level }) => level));
    const code = ({ blocks }: Page) =>
      blocks.map(({ language, title, text, exit }) => ({ language, title, text, exit }));
    expect(code(other)).toEqual(code(one));
  });
});

test.each([...english, ...chinese])('no link of %s is dead', (name) => {
  const { links } = readPage(join(root, name));
  const dead = links.filter((link) => !/^[a-z]+:/.test(link) && !leadsSomewhere(name, link));
  expect(dead).toEqual([]);
});

function leadsSomewhere(page: string, link: string): boolean {
  const [path = '', anchor] = decodeURIComponent(link).split('#');
  const file = path === '' ? join(root, page) : join(root, dirname(page), path);
  if (relative(root, file).startsWith('..') || !existsSync(file)) return false;
  return anchor === undefined || !file.endsWith('.md') || anchors(file).has(anchor);
}

/** The names that GitHub gives to headings. */
function anchors(file: string): Set<string> {
  const { headings } = readPage(file);
  return new Set(
    headings.map(({ text }) =>
      text
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}

test('every command and every option that the help lists has its place in the reference', () => {
  const page = readFileSync(join(root, 'docs/cli.md'), 'utf8');
  const commands = reference.groups.flatMap((group) => group.commands);
  const flags = [...reference.globals, ...commands.flatMap(({ options = [] }) => options)].map(
    ({ flags }) => /--[a-z-]+/.exec(flags)?.[0] ?? flags,
  );
  expect(commands.map(({ name }) => name).filter((name) => !page.includes(`\`chassis ${name}`))).toEqual([]);
  expect(flags.filter((flag) => !new RegExp(`${flag}(?![a-z-])`).test(page))).toEqual([]);
});
