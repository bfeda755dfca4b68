import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CAPTURE_LIMITS, WorkspaceCapture } from './capture.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'chassis-capture-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const place = (path: string) => join(root, path);
const bytes = (text: string) => Buffer.from(text);

function changes(act: () => void, capture = new WorkspaceCapture(root)) {
  expect(capture.begin()).toBe(true);
  act();
  return capture.end();
}

test('files made, changed, removed, moved; modes and links; nothing that stayed as it was', () => {
  for (const name of ['kept', 'changed', 'removed', 'moved', 'script']) writeFileSync(place(name), name);
  for (const name of ['kept', 'changed', 'removed', 'moved', 'script']) chmodSync(place(name), 0o644);
  symlinkSync('kept', place('link'));
  const found = changes(() => {
    writeFileSync(place('changed'), Buffer.from([0, 255, 10]));
    rmSync(place('removed'));
    mkdirSync(place('into'));
    renameSync(place('moved'), place('into/moved'));
    chmodSync(place('script'), 0o755);
    rmSync(place('link'));
    symlinkSync('/nowhere', place('link'));
    writeFileSync(place('kept'), 'kept');
  });
  const file = (mode = 0o644) => ({ mode });
  expect(found).toEqual([
    {
      kind: 'file',
      path: 'changed',
      before: bytes('changed'),
      after: Buffer.from([0, 255, 10]),
      before_form: file(),
      after_form: file(),
    },
    { kind: 'file', path: 'into/moved', before: null, after: bytes('moved'), after_form: file() },
    {
      kind: 'file',
      path: 'link',
      before: bytes('kept'),
      after: bytes('/nowhere'),
      before_form: { link: true },
      after_form: { link: true },
    },
    { kind: 'file', path: 'moved', before: bytes('moved'), after: null, before_form: file() },
    { kind: 'file', path: 'removed', before: bytes('removed'), after: null, before_form: file() },
    {
      kind: 'file',
      path: 'script',
      before: bytes('script'),
      after: bytes('script'),
      before_form: file(),
      after_form: file(0o755),
    },
  ]);
});

test('a change of the same length whose time was set back is found', () => {
  writeFileSync(place('a'), 'one');
  const { atime, mtime } = statSync(place('a'));
  const found = changes(() => {
    writeFileSync(place('a'), 'two');
    utimesSync(place('a'), atime, mtime);
  });
  expect(found).toMatchObject([{ path: 'a', before: bytes('one'), after: bytes('two') }]);
});

test('links are not followed, and what others keep is not looked at', () => {
  const outside = mkdtempSync(join(tmpdir(), 'chassis-outside-'));
  try {
    symlinkSync(outside, place('out'));
    for (const folder of ['.git', 'node_modules', '.chassis', 'sub/.git'])
      mkdirSync(place(folder), { recursive: true });
    const found = changes(() => {
      writeFileSync(join(outside, 'x'), 'x');
      for (const folder of ['.git', 'node_modules', '.chassis', 'sub/.git'])
        writeFileSync(place(`${folder}/x`), 'x');
      writeFileSync(place('sub/y'), 'y');
    });
    expect(found.map(({ path }) => path)).toEqual(['sub/y']);
  } finally {
    rmSync(outside, { recursive: true });
  }
});

test('between commands, what somebody else changes is nobody’s; side by side, a change is told once', () => {
  const capture = new WorkspaceCapture(root);
  changes(() => writeFileSync(place('a'), '1'), capture);
  writeFileSync(place('a'), 'by hand');
  expect(changes(() => writeFileSync(place('b'), '1'), capture)).toMatchObject([{ path: 'b' }]);
  capture.begin();
  writeFileSync(place('c'), 'first');
  capture.begin();
  writeFileSync(place('d'), 'second');
  expect(capture.end().map(({ path }) => path)).toEqual(['c', 'd']);
  expect(capture.end()).toEqual([]);
});

test('what is too large is told and not kept; too many files are not captured', () => {
  const capture = new WorkspaceCapture(root, { ...CAPTURE_LIMITS, entries: 2, fileBytes: 4 });
  writeFileSync(place('big'), '12345');
  expect(changes(() => writeFileSync(place('big'), '123456'), capture)).toMatchObject([
    { path: 'big', before: { bytes: 5 }, after: { bytes: 6 } },
  ]);
  for (const name of ['b', 'c', 'd']) writeFileSync(place(name), '');
  expect(capture.begin()).toBe(false);
  expect(capture.end()).toEqual([]);
  expect(readFileSync(place('big'), 'utf8')).toBe('123456');
});
