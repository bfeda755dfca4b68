/** Every way out of the workspace that is known from the field is refused, and leaves the world as it was. */
import { existsSync } from 'node:fs';
import {
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ErrorCode } from '@chassis/errors';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { checkedTools } from '../../checked-tools.ts';
import { fakeContext } from '../../fake-context.ts';
import plugin from './index.ts';
import { enter, find } from './workspace.ts';

let base: string;
let workspace: string;
let victim: string;
const { read_file, write_file, edit_file, list_files, search_files } = checkedTools(
  plugin.tools,
  join(import.meta.dirname, '..'),
);

beforeEach(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), 'chassis-files-')));
  workspace = join(base, 'w');
  victim = join(base, 'outside', 'victim.txt');
  await mkdir(workspace);
  await mkdir(join(base, 'outside'));
  await writeFile(victim, 'original');
});
afterEach(() => rm(base, { recursive: true }));

const refused = { code: ErrorCode.PermissionDenied };

/** Every tool, given the path, refuses it; the outside stays as it was. */
async function everyToolRefuses(path: string): Promise<void> {
  const ctx = fakeContext({ workspace });
  const calls = [
    () => read_file({ path }, ctx),
    () => write_file({ path, content: 'changed' }, ctx),
    () => edit_file({ path, old_text: 'original', new_text: 'changed' }, ctx),
    () => list_files({ path }, ctx),
    () => search_files({ path, pattern: 'original' }, ctx),
  ];
  for (const call of calls) await expect(call()).rejects.toMatchObject(refused);
  expect(ctx.effects).toEqual([]);
  expect(await readFile(victim, 'utf8')).toBe('original');
  expect(await readdir(join(base, 'outside'))).toEqual(['victim.txt']);
}

describe('a path out of the workspace is refused', () => {
  test('a link to a file outside', async () => {
    await symlink(victim, join(workspace, 'notes.md'));
    await everyToolRefuses('notes.md');
  });

  test('a dangling link to a file outside', async () => {
    await symlink(join(base, 'outside', 'not-yet.txt'), join(workspace, 'draft.txt'));
    await everyToolRefuses('draft.txt');
    expect(existsSync(join(base, 'outside', 'not-yet.txt'))).toBe(false);
  });

  test('a dangling link to a file inside', async () => {
    await symlink('nowhere.txt', join(workspace, 'draft.txt'));
    await everyToolRefuses('draft.txt');
    expect(existsSync(join(workspace, 'nowhere.txt'))).toBe(false);
  });

  test('a linked folder in the middle of the path', async () => {
    await symlink(join(base, 'outside'), join(workspace, 'dir'));
    await everyToolRefuses('dir/victim.txt');
    await everyToolRefuses('dir/new/deep.txt');
  });

  test('a chain of links, and a link that leads to itself', async () => {
    await symlink(join(base, 'outside'), join(workspace, 'b'));
    await symlink('b', join(workspace, 'a'));
    await everyToolRefuses('a/victim.txt');
    await symlink('loop', join(workspace, 'loop'));
    await everyToolRefuses('loop');
  });

  test('dots, absolute paths, and paths through /proc', async () => {
    await everyToolRefuses('../outside/victim.txt');
    await everyToolRefuses(join(workspace, '..', 'outside', 'x'));
    await everyToolRefuses(`${workspace}/../outside/victim.txt`);
    await everyToolRefuses(victim);
    await everyToolRefuses(`/proc/self/root${victim}`);
    await everyToolRefuses(`/proc/self/root${workspace}/new.txt`);
    await everyToolRefuses('/proc/self/cwd/x');
    await everyToolRefuses(`${workspace}-beside/x`);
  });

  test('the error shows where the path really leads', async () => {
    await symlink(victim, join(workspace, 'notes.md'));
    const error = await write_file({ path: 'notes.md', content: 'x' }, fakeContext({ workspace })).catch(
      (e) => e,
    );
    expect(error.message).toBe(`notes.md is outside of the workspace (it leads to ${victim})`);
    expect(error.data).toMatchObject({ path: 'notes.md', resolved: victim });
  });

  test('a link that appears between the question and the write', async () => {
    const found = await find(workspace, 'new.txt');
    expect(found.missing).toEqual(['new.txt']);
    await symlink(victim, join(workspace, 'new.txt'));
    await everyToolRefuses('new.txt');
  });

  test.runIf(process.platform === 'linux')('a folder swapped for a link after the check', async () => {
    await mkdir(join(workspace, 'dir'));
    const found = await find(workspace, 'dir/victim.txt');
    await rm(join(workspace, 'dir'), { recursive: true });
    await symlink(join(base, 'outside'), join(workspace, 'dir'));
    await expect(enter(found.root, ['dir'])).rejects.toMatchObject({
      code: expect.stringMatching(/ELOOP|ENOTDIR/),
    });
  });

  test.runIf(process.platform === 'linux')('an open folder stays the one that was checked', async () => {
    await mkdir(join(workspace, 'dir'));
    await using folder = await enter(workspace, ['dir']);
    await rename(join(workspace, 'dir'), join(workspace, 'moved'));
    await symlink(join(base, 'outside'), join(workspace, 'dir'));
    await writeFile(folder.at('x'), 'inside');
    expect(await readFile(join(workspace, 'moved', 'x'), 'utf8')).toBe('inside');
    expect(existsSync(join(base, 'outside', 'x'))).toBe(false);
  });
});

describe('paths inside', () => {
  test('relative, absolute, with dots, and through links that stay inside', async () => {
    await mkdir(join(workspace, 'a', 'b'), { recursive: true });
    await writeFile(join(workspace, 'a', 'b', 'f.txt'), 'hello');
    await symlink(join('a', 'b'), join(workspace, 'short'));
    const ctx = fakeContext({ workspace });
    for (const path of ['a/b/f.txt', './a/../a/b/f.txt', join(workspace, 'a/b/f.txt'), 'short/f.txt']) {
      expect(await read_file({ path }, ctx)).toMatchObject({ path: 'a/b/f.txt', content: 'hello' });
    }
    await write_file({ path: 'short/f.txt', content: 'bye' }, ctx);
    expect(await readFile(join(workspace, 'a/b/f.txt'), 'utf8')).toBe('bye');
    expect(ctx.effects).toMatchObject([{ path: 'a/b/f.txt' }]);
  });

  test('a workspace that is itself reached through a link', async () => {
    await symlink(workspace, join(base, 'alias'));
    const ctx = fakeContext({ workspace: join(base, 'alias') });
    await write_file({ path: join(base, 'alias', 'x.txt'), content: '1' }, ctx);
    expect(await read_file({ path: join(workspace, 'x.txt') }, ctx)).toMatchObject({
      path: 'x.txt',
      content: '1',
    });
  });

  test('a name that only looks like a way out', async () => {
    const ctx = fakeContext({ workspace });
    await write_file({ path: '..notes/...', content: '1' }, ctx);
    expect(await read_file({ path: '..notes/...' }, ctx)).toMatchObject({ path: '..notes/...' });
  });

  test('the record of the runs is not written by tools', async () => {
    const ctx = fakeContext({ workspace });
    await mkdir(join(workspace, '.chassis'));
    await symlink('.chassis', join(workspace, 'innocent'));
    for (const path of ['.chassis/sessions/x', 'innocent/x', '.CHASSIS/x']) {
      await expect(write_file({ path, content: 'x' }, ctx)).rejects.toMatchObject(refused);
    }
    expect(await readdir(join(workspace, '.chassis'))).toEqual([]);
  });

  test('no folder is left behind by an edit of a file that is not there', async () => {
    const ctx = fakeContext({ workspace });
    await expect(edit_file({ path: 'no/such.txt', old_text: 'a', new_text: 'b' }, ctx)).rejects.toMatchObject(
      {
        code: ErrorCode.InvalidParams,
      },
    );
    await expect(stat(join(workspace, 'no'))).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
