import { execFileSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ErrorCode } from '@chassis/errors';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { checkedTools } from '../../checked-tools.ts';
import { type FakeContext, fakeContext } from '../../fake-context.ts';
import plugin from './index.ts';

const { read_file, write_file, edit_file, list_files, search_files } = checkedTools(
  plugin.tools,
  join(import.meta.dirname, '..'),
);
let workspace: string;
let ctx: FakeContext;
const file = (name: string): string => join(workspace, name);

beforeEach(async () => {
  workspace = await mkdtemp(join(tmpdir(), 'chassis-files-'));
  ctx = fakeContext({ workspace });
});
afterEach(() => rm(workspace, { recursive: true }));

describe('read_file', () => {
  test('returns the file as it is', async () => {
    await writeFile(file('a.txt'), 'one\r\ntwo\nthree');
    expect(await read_file({ path: 'a.txt' }, ctx)).toEqual({
      path: 'a.txt',
      content: 'one\r\ntwo\nthree',
      binary: false,
      total_bytes: 14,
      total_lines: 3,
      first_line: 1,
      last_line: 3,
      truncated: false,
    });
  });

  test('a range says that it is one, and where to go on', async () => {
    await writeFile(file('a.txt'), 'l1\nl2\nl3\nl4\n');
    expect(await read_file({ path: 'a.txt', offset: 2, limit: 2 }, ctx)).toMatchObject({
      content: 'l2\nl3\n',
      first_line: 2,
      last_line: 3,
      total_lines: 4,
      truncated: true,
      next_offset: 4,
    });
    expect(await read_file({ path: 'a.txt', offset: 9 }, ctx)).toMatchObject({ content: '', last_line: 0 });
  });

  test('a large file is cut at a line end, and the pieces make up the whole', async () => {
    const whole = Array.from({ length: 9000 }, (_, i) => `${i} ${'é'.repeat(40)}\n`).join('');
    await writeFile(file('big.txt'), whole);
    let text = '';
    let offset: number | undefined = 1;
    let reads = 0;
    while (offset !== undefined) {
      const part = (await read_file({ path: 'big.txt', offset, limit: 10_000 }, ctx)) as {
        content: string;
        next_offset?: number;
        truncated: boolean;
      };
      expect(part.truncated).toBe(true);
      text += part.content;
      offset = part.next_offset;
      reads++;
    }
    expect(text).toBe(whole);
    expect(reads).toBeGreaterThan(1);
  });

  test('a line longer than an answer is cut between characters', async () => {
    await writeFile(file('long.txt'), `${'€'.repeat(100_000)}\nnext\n`);
    const part = (await read_file({ path: 'long.txt' }, ctx)) as { content: string };
    expect(part).toMatchObject({
      truncated: true,
      line_cut: true,
      last_line: 1,
      next_offset: 2,
      total_lines: 2,
    });
    expect(part.content).toBe('€'.repeat(Math.floor((256 * 1024) / 3)));
  });

  test('an empty file, and a byte-order mark', async () => {
    await writeFile(file('empty'), '');
    expect(await read_file({ path: 'empty' }, ctx)).toMatchObject({
      content: '',
      total_lines: 0,
      truncated: false,
    });
    await writeFile(file('bom'), '\uFEFFx');
    expect(await read_file({ path: 'bom' }, ctx)).toMatchObject({ content: 'x', bom: true, total_bytes: 4 });
  });

  test('binary content is answered as such', async () => {
    await writeFile(file('png'), Buffer.from([0x89, 0x50, 0, 1]));
    await writeFile(file('latin1'), Buffer.from([0x63, 0x61, 0x66, 0xe9]));
    for (const [path, total_bytes] of [
      ['png', 4],
      ['latin1', 4],
    ] as const) {
      expect(await read_file({ path }, ctx)).toEqual({
        path,
        content: null,
        binary: true,
        total_bytes,
        truncated: false,
      });
    }
  });

  test('what is no file is said plainly', async () => {
    await mkdir(file('dir'));
    await writeFile(file('f'), '');
    await expect(read_file({ path: 'dir' }, ctx)).rejects.toThrow('dir: is a folder, not a file');
    await expect(read_file({ path: '.' }, ctx)).rejects.toThrow('.: is a folder, not a file');
    await expect(read_file({ path: 'none' }, ctx)).rejects.toMatchObject({ code: ErrorCode.InvalidParams });
    await expect(read_file({ path: 'f/x' }, ctx)).rejects.toThrow('f/x: a part of the path is no folder');
    await expect(read_file({ path: 'a\0b' }, ctx)).rejects.toMatchObject({ code: ErrorCode.InvalidParams });
  });

  test.runIf(process.platform === 'linux')('a named pipe is refused instead of waited for', async () => {
    execFileSync('mkfifo', [file('pipe')]);
    await expect(read_file({ path: 'pipe' }, ctx)).rejects.toThrow('pipe: is no regular file');
    await expect(write_file({ path: 'pipe', content: 'x' }, ctx)).rejects.toThrow('pipe: is no regular file');
  });
});

describe('write_file', () => {
  test('creates the file and its folders, and declares the effect', async () => {
    expect(await write_file({ path: 'a/b/c.txt', content: 'é\n' }, ctx)).toEqual({
      path: 'a/b/c.txt',
      created: true,
      changed: true,
      bytes: 3,
    });
    expect(await readFile(file('a/b/c.txt'), 'utf8')).toBe('é\n');
    expect(ctx.effects).toEqual([
      { kind: 'file', path: 'a/b/c.txt', before: null, after: Buffer.from('é\n') },
    ]);
    expect(await readdir(file('a/b'))).toEqual(['c.txt']);
  });

  test('replaces in one step: a reader that has the old file open still reads the old content', async () => {
    await writeFile(file('x'), 'old');
    await chmod(file('x'), 0o751);
    const before = await stat(file('x'));
    expect(await write_file({ path: 'x', content: 'new' }, ctx)).toMatchObject({
      created: false,
      changed: true,
    });
    const after = await stat(file('x'));
    expect(after.ino).not.toBe(before.ino);
    expect(after.mode & 0o7777).toBe(0o751);
    expect(ctx.effects).toEqual([
      { kind: 'file', path: 'x', before: Buffer.from('old'), after: Buffer.from('new') },
    ]);
  });

  test('writing the same content again changes nothing and declares nothing', async () => {
    await writeFile(file('x'), 'same');
    const before = await stat(file('x'));
    expect(await write_file({ path: 'x', content: 'same' }, ctx)).toMatchObject({ changed: false });
    expect((await stat(file('x'))).ino).toBe(before.ino);
    expect(ctx.effects).toEqual([]);
  });

  test('a cancelled call leaves nothing', async () => {
    const cancelled = fakeContext({ workspace, signal: AbortSignal.abort() });
    await expect(write_file({ path: 'x', content: '1' }, cancelled)).rejects.toThrow();
    expect(await readdir(workspace)).toEqual([]);
    expect(cancelled.effects).toEqual([]);
  });
});

describe('edit_file', () => {
  test('an edit given with LF fits a file with CRLF and touches nothing else', async () => {
    const original = await readFile(join(import.meta.dirname, '../test/h7_crlf.txt'));
    await writeFile(file('h7.txt'), original);
    const edit = { path: 'h7.txt', old_text: 'beta\ngamma', new_text: 'BETA\nnew\ngamma' };
    expect(await edit_file(edit, ctx)).toEqual({ path: 'h7.txt', replacements: 1, lines: [2], bytes: 35 });
    const bytes = await readFile(file('h7.txt'));
    expect(bytes.toString('latin1')).toBe('alpha\r\nBETA\r\nnew\r\ngamma\ndelta\r\nlast');
    expect(ctx.effects).toEqual([{ kind: 'file', path: 'h7.txt', before: original, after: bytes }]);
  });

  test('a byte-order mark stays', async () => {
    await writeFile(file('bom.txt'), '\uFEFFone\r\ntwo\r\n');
    await edit_file({ path: 'bom.txt', old_text: 'one', new_text: 'ONE' }, ctx);
    expect((await readFile(file('bom.txt'))).toString()).toBe('\uFEFFONE\r\ntwo\r\n');
  });

  test('a text that occurs twice is refused with its lines', async () => {
    await writeFile(file('x'), 'a\nb\na\n');
    const error = await edit_file({ path: 'x', old_text: 'a', new_text: 'c' }, ctx).catch((e) => e);
    expect(error.code).toBe(ErrorCode.InvalidParams);
    expect(error.message).toContain('occurs 2 times, on lines 1, 3');
    expect(error.data.lines).toEqual([1, 3]);
    expect(await readFile(file('x'), 'utf8')).toBe('a\nb\na\n');
    expect(
      await edit_file({ path: 'x', old_text: 'a', new_text: 'c', replace_all: true }, ctx),
    ).toMatchObject({
      replacements: 2,
      lines: [1, 3],
    });
    expect(await readFile(file('x'), 'utf8')).toBe('c\nb\nc\n');
  });

  test('a text that is not there is refused, with the line that is like it', async () => {
    await writeFile(file('x'), 'if (a) {\n    go();\n}\n');
    await expect(edit_file({ path: 'x', old_text: '  go();\n}', new_text: '' }, ctx)).resolves.toBeDefined();
    await writeFile(file('x'), 'if (a) {\n\tgo();\n}\n');
    await expect(edit_file({ path: 'x', old_text: '  go();\n}', new_text: '' }, ctx)).rejects.toThrow(
      'line 2 is like its first line',
    );
    await expect(edit_file({ path: 'x', old_text: 'nothing', new_text: '' }, ctx)).rejects.toThrow(
      'old_text does not occur in the file',
    );
    await expect(edit_file({ path: 'x', old_text: 'go', new_text: 'go' }, ctx)).rejects.toThrow(
      'nothing would change',
    );
  });

  test('bytes that are no text are not edited', async () => {
    await writeFile(file('x'), Buffer.from([0x61, 0xff, 0x62]));
    await expect(edit_file({ path: 'x', old_text: 'a', new_text: 'c' }, ctx)).rejects.toThrow(
      'is no UTF-8 text',
    );
    expect(await readFile(file('x'))).toEqual(Buffer.from([0x61, 0xff, 0x62]));
  });
});

describe('list_files and search_files', () => {
  beforeEach(async () => {
    await mkdir(file('src/deep'), { recursive: true });
    await mkdir(file('node_modules/pkg'), { recursive: true });
    await mkdir(file('.git'));
    await writeFile(file('src/b.ts'), 'const total = 1;\r\nTOTAL\n');
    await writeFile(file('src/deep/a.ts'), 'total\n');
    await writeFile(file('src/.hidden.ts'), 'total\n');
    await writeFile(file('src/c.bin'), Buffer.from([0, 1]));
    await writeFile(file('node_modules/pkg/x.ts'), 'total\n');
    await symlink('..', file('src/up'));
  });

  test('a folder is listed in the order of its names, links unfollowed', async () => {
    expect(await list_files({}, ctx)).toEqual({
      path: '.',
      entries: [{ path: 'src', type: 'folder' }],
      truncated: false,
    });
    expect(await list_files({ path: 'src' }, ctx)).toEqual({
      path: 'src',
      entries: [
        { path: 'src/.hidden.ts', type: 'file', bytes: 6 },
        { path: 'src/b.ts', type: 'file', bytes: 24 },
        { path: 'src/c.bin', type: 'file', bytes: 2 },
        { path: 'src/deep', type: 'folder' },
        { path: 'src/up', type: 'link' },
      ],
      truncated: false,
    });
  });

  test('a glob looks below, and what was left out is said', async () => {
    const names = async (input: object): Promise<string[]> =>
      ((await list_files(input, ctx)) as { entries: { path: string }[] }).entries.map((entry) => entry.path);
    expect(await names({ glob: '**/*.ts' })).toEqual(['src/.hidden.ts', 'src/b.ts', 'src/deep/a.ts']);
    expect(await names({ path: 'src', glob: '*.ts' })).toEqual(['src/.hidden.ts', 'src/b.ts']);
    expect(await names({ glob: '**/x.ts', all: true })).toEqual(['node_modules/pkg/x.ts']);
    expect(await list_files({ glob: '**/*.ts', limit: 2 }, ctx)).toMatchObject({ truncated: true });
    expect(await list_files({ glob: '**/*.ts', limit: 3 }, ctx)).toMatchObject({ truncated: false });
  });

  test('search finds lines, and counts what it did not search', async () => {
    expect(await search_files({ pattern: '^(total|const total).*$' }, ctx)).toEqual({
      matches: [
        { path: 'src/.hidden.ts', line: 1, text: 'total' },
        { path: 'src/b.ts', line: 1, text: 'const total = 1;' },
        { path: 'src/deep/a.ts', line: 1, text: 'total' },
      ],
      files_searched: 3,
      skipped: { binary: 1, too_large: 0, unreadable: 0 },
      truncated: false,
    });
    expect(await search_files({ pattern: 'total', ignore_case: true, path: 'src/b.ts' }, ctx)).toMatchObject({
      matches: [{ line: 1 }, { line: 2 }],
    });
    expect(await search_files({ pattern: 'total', limit: 1 }, ctx)).toMatchObject({ truncated: true });
  });

  test('a long line shows the part around the match', async () => {
    await writeFile(file('long.txt'), `${'x'.repeat(5000)}needle${'y'.repeat(5000)}`);
    const { matches } = (await search_files({ pattern: 'needle', path: 'long.txt' }, ctx)) as {
      matches: { text: string; cut: boolean }[];
    };
    expect(matches[0]?.cut).toBe(true);
    expect(matches[0]?.text).toContain('needle');
    expect(matches[0]?.text).toHaveLength(400);
  });

  test('a pattern that would blow up elsewhere, and one that is none', async () => {
    await writeFile(file('aaa.txt'), `${'a'.repeat(50_000)}!\n`);
    expect(await search_files({ pattern: '^(a+)+$', path: 'aaa.txt' }, ctx)).toMatchObject({ matches: [] });
    await expect(search_files({ pattern: '(' }, ctx)).rejects.toMatchObject({
      code: ErrorCode.InvalidParams,
    });
    await expect(search_files({ pattern: '(?=a)' }, ctx)).rejects.toThrow('RE2 syntax');
  });
});
