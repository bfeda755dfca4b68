import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { memoryStore, Secrets } from '@chassis/journal';
import type { FileForm } from '@chassis/types';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type FakeTool, says, scripted } from '../../test/support/fake-registry.ts';
import { openSession } from '../../test/support/sessions.ts';
import { filesAt, undoneNever } from './files-at.ts';
import { changedSince, copyWorkspace, restoreFiles } from './restore.ts';

let root: string;
let work: string;

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'chassis-restore-')));
  work = join(root, 'work');
  mkdirSync(work);
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

type Change = readonly [
  path: string,
  before: Content,
  after: Content,
  beforeForm?: FileForm | undefined,
  afterForm?: FileForm,
];
type Content = Buffer | { readonly bytes: number } | null;

/** A session whose n-th tool step makes the n-th change, on disk and as an effect. */
async function session(changes: readonly Change[], secrets = new Secrets()) {
  const store = memoryStore({ secrets });
  let next = 0;
  const put: FakeTool = {
    effects: 'write',
    run: (_input, ctx) => {
      const [path, before, after, before_form, after_form] = changes[next++] as Change;
      ctx.effect({
        kind: 'file',
        path,
        before,
        after,
        ...(before_form === undefined ? {} : { before_form }),
        ...(after_form === undefined ? {} : { after_form }),
      });
      return null;
    },
  };
  const { session: made } = await openSession({
    store,
    secrets,
    tools: { put },
    models: { p: scripted(says('')) },
    agent: async (_input, ctx) => {
      for (const [n] of changes.entries()) await ctx.call('tool.call', { name: 'put', arguments: { n } });
      return { answer: 'done' };
    },
  });
  await made.prompt('go');
  await made.close();
  return { store, view: made.view };
}

const bytes = (text: string) => Buffer.from(text);
const all = Buffer.from(Array.from({ length: 256 }, (_, n) => n));

test('every state of the run comes back: bytes, modes and absence', async () => {
  const changes: Change[] = [
    ['a.sh', bytes('one'), all],
    ['new/deep.txt', null, bytes('born')],
    ['a.sh', all, bytes('three')],
    ['new/deep.txt', bytes('born'), null],
  ];
  const { store, view } = await session(changes);
  writeFileSync(join(work, 'a.sh'), 'three');
  chmodSync(join(work, 'a.sh'), 0o751);
  writeFileSync(join(work, 'other'), 'untouched');
  const states: [number, Buffer, Buffer | null][] = [
    [0, bytes('one'), null],
    [1, all, null],
    [2, all, bytes('born')],
    [3, bytes('three'), bytes('born')],
    [4, bytes('three'), null],
    [2, all, bytes('born')],
  ];
  for (const [at, script, deep] of states) {
    const restored = await restoreFiles(view, at, store, work);
    expect(restored.refused).toEqual([]);
    expect(readFileSync(join(work, 'a.sh'))).toEqual(script);
    expect(statSync(join(work, 'a.sh')).mode & 0o7777).toBe(0o751);
    expect(existsSync(join(work, 'new/deep.txt')) ? readFileSync(join(work, 'new/deep.txt')) : null).toEqual(
      deep,
    );
    expect(readFileSync(join(work, 'other'), 'utf8')).toBe('untouched');
  }
});

test('modes and links come back as they were, and a link on record is replaced, not followed', async () => {
  const target = join(root, 'elsewhere');
  writeFileSync(target, 'mine');
  const { store, view } = await session([
    ['run', bytes('x'), bytes('x'), { mode: 0o644 }, { mode: 0o4751 }],
    ['to', null, bytes('run'), undefined, { link: true }],
    ['to', bytes('run'), bytes('now a file'), { link: true }, { mode: 0o600 }],
    ['to', bytes('now a file'), bytes(target), { mode: 0o600 }, { link: true }],
  ]);
  writeFileSync(join(work, 'run'), 'x');
  symlinkSync(target, join(work, 'to'));
  const restored = (at: number) => restoreFiles(view, at, store, work);
  const mode = (name: string) => statSync(join(work, name)).mode & 0o7777;
  expect(await restored(3)).toMatchObject({ written: ['run', 'to'], refused: [] });
  expect(lstatSync(join(work, 'to')).isFile()).toBe(true);
  expect([mode('run'), mode('to')]).toEqual([0o4751, 0o600]);
  expect(await restored(2)).toMatchObject({ written: ['to'], unchanged: ['run'] });
  expect(readlinkSync(join(work, 'to'))).toBe('run');
  expect(await restored(2)).toMatchObject({ written: [], unchanged: ['run', 'to'] });
  expect(await restored(0)).toMatchObject({ written: ['run'], deleted: ['to'] });
  expect(mode('run')).toBe(0o644);
  await restored(4);
  expect(readlinkSync(join(work, 'to'))).toBe(target);
  expect(readFileSync(target, 'utf8')).toBe('mine');
});

test('a content that was too large to be kept is named', async () => {
  const { store, view } = await session([['big', null, { bytes: 5_000_000 }]]);
  expect((await restoreFiles(view, 1, store, work)).refused).toEqual([
    { path: 'big', why: expect.stringContaining('too large to be kept (5000000 bytes)') as string },
  ]);
  expect(await changedSince(view, work)).toEqual([]);
});

test('nothing outside of the folder is touched: not through dots, not through a link', async () => {
  const outside = join(root, 'outside');
  mkdirSync(outside);
  writeFileSync(join(outside, 'victim'), 'mine');
  symlinkSync(outside, join(work, 'link'));
  symlinkSync(join(outside, 'victim'), join(work, 'file-link'));
  const paths = [
    '../outside/victim',
    'link/victim',
    'file-link',
    join(outside, 'victim'),
    'x/../../outside/victim',
  ];
  const { store, view } = await session(paths.map((path) => [path, bytes('theirs'), bytes('after')]));
  const { refused, written } = await restoreFiles(view, 0, store, work);
  expect(refused.map(({ path }) => path).sort()).toEqual([...paths].sort());
  expect(written).toEqual([]);
  expect(readFileSync(join(outside, 'victim'), 'utf8')).toBe('mine');
});

test('a file that held a secret was never kept, and is said to be not restorable', async () => {
  const secrets = new Secrets();
  secrets.add('TOKEN', 's3cr3t-value-9');
  const { store, view } = await session([['.env', null, bytes('KEY=s3cr3t-value-9')]], secrets);
  const sha = createHash('sha256').update('KEY=s3cr3t-value-9').digest('hex');
  expect(await store.blob(sha)).toBeUndefined();
  expect(JSON.stringify(view.steps)).not.toContain(sha);
  const { refused } = await restoreFiles(view, 1, store, work);
  expect(refused).toEqual([{ path: '.env', why: expect.stringContaining('held a secret') as string }]);
  expect(existsSync(join(work, '.env'))).toBe(false);
});

test('a content that is gone from the store is named, the others are restored', async () => {
  const { view } = await session([
    ['a', null, bytes('kept')],
    ['b', null, bytes('lost')],
  ]);
  const keep = { blob: async (sha: string) => (sha === hashOf('kept') ? bytes('kept') : undefined) };
  expect(await restoreFiles(view, 2, keep, work)).toMatchObject({
    written: ['a'],
    refused: [{ path: 'b', why: expect.stringContaining('not in the store') as string }],
  });
});

test('a copy keeps modes and links, and leaves out what Chassis keeps', async () => {
  mkdirSync(join(work, '.chassis'));
  mkdirSync(join(work, 'bin'));
  writeFileSync(join(work, 'bin/run'), 'x');
  chmodSync(join(work, 'bin/run'), 0o700);
  symlinkSync('bin/run', join(work, 'start'));
  symlinkSync('/nowhere', join(work, 'dead'));
  const copy = join(work, '.chassis', 'workspaces', 'one');
  await copyWorkspace(work, copy);
  expect(statSync(join(copy, 'bin/run')).mode & 0o777).toBe(0o700);
  expect(readlinkSync(join(copy, 'start'))).toBe('bin/run');
  expect(lstatSync(join(copy, 'dead')).isSymbolicLink()).toBe(true);
  expect(existsSync(join(copy, '.chassis'))).toBe(false);
  await expect(copyWorkspace(work, copy)).rejects.toThrow('is there already');
  await expect(copyWorkspace(work, join(work, 'inside'))).rejects.toThrow('inside of the workspace');
});

test('what somebody else changed since is found, with both hashes', async () => {
  const { view } = await session([
    ['a', null, bytes('1')],
    ['b', bytes('2'), null],
  ]);
  writeFileSync(join(work, 'a'), '1');
  expect(await changedSince(view, work)).toEqual([]);
  writeFileSync(join(work, 'a'), 'by hand');
  writeFileSync(join(work, 'b'), 'back again');
  expect(await changedSince(view, work)).toEqual([
    { path: 'a', recorded: hashOf('1'), now: hashOf('by hand') },
    { path: 'b', recorded: null, now: hashOf('back again') },
  ]);
});

test('only files can be taken back', async () => {
  const { session: made } = await openSession({
    tools: {
      mail: {
        run: (_i, ctx) => ctx.effect({ kind: 'http', method: 'POST', url: 'https://x/', status: 200 }),
      },
    },
    models: {},
    agent: async (_input, ctx) => {
      for (const n of [1, 2]) await ctx.call('tool.call', { name: 'mail', arguments: { n } });
      return { answer: '' };
    },
  });
  await made.prompt('go');
  await made.close();
  expect(undoneNever(made.view, 1).map((step) => step.number)).toEqual([2]);
  expect(filesAt(made.view, 2)).toEqual([]);
});

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
