/** Something else where a file of a session should be: a pipe must not be waited for, a device not be read, and the place is named. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ChassisError } from '@chassis/errors';
import { afterEach, expect, test } from 'vitest';
import { fileStore, newSessionId } from '../src/index.ts';

const roots: string[] = [];
afterEach(() => {
  for (const root of roots.splice(0)) rmSync(root, { recursive: true, force: true });
});

const kinds: Readonly<Record<string, (path: string) => void>> = {
  'a folder': (path) => mkdirSync(path),
  'a pipe': (path) => execFileSync('mkfifo', [path]),
  'a device': (path) => symlinkSync('/dev/zero', path),
  'a link to itself': (path) => symlinkSync(path, path),
  'a link to nothing': (path) => symlinkSync('/nowhere/at/all', path),
};

async function session(): Promise<{ root: string; id: string }> {
  const root = mkdtempSync(join(tmpdir(), 'journal-kinds-'));
  roots.push(root);
  const store = fileStore({ root, segmentBytes: 4000 });
  const writer = await store.create({
    format: 'chassis.session',
    v: 1,
    id: newSessionId(),
    created: 0,
    chassis: '0.1.0',
    title: 'kinds',
    workspace: root,
    project: root,
    agent: { name: 'a', version: '0.1.0', digest: '', agent: 'main' },
    model: null,
    plugins: [],
    settings: {},
  } as never);
  for (let n = 0; n < 40; n++) writer.append('note.added', { text: 'x'.repeat(200), author: 'me' });
  await writer.close();
  await store.close();
  return { root, id: writer.id };
}

const places = ['head.json', 'snapshots', 'lock', 'log', 'first segment', 'last segment'];

test.each(places.flatMap((place) => Object.keys(kinds).map((kind) => [place, kind] as const)))(
  '%s is %s',
  async (place, kind) => {
    const { root, id } = await session();
    const folder = join(root, 'sessions', id);
    const segments = readdirSync(join(folder, 'log'))
      .filter((name) => /\.jsonl(?:\.zst)?$/.test(name))
      .sort();
    const name = place.startsWith('first')
      ? segments[0]
      : place.startsWith('last')
        ? segments.at(-1)
        : undefined;
    const path = name === undefined ? join(folder, place) : join(folder, 'log', name);
    rmSync(path, { recursive: true, force: true });
    kinds[kind]?.(path);

    const store = fileStore({ root });
    const read = async () => (await (await store.reader(id)).view()).notes.length;
    const write = async () => {
      const writer = await store.open(id);
      writer.append('note.added', { text: 'more', author: 'me' });
      await writer.close();
    };
    const listed = await Array.fromAsync(store.list());
    expect(listed.map((one) => one.id)).toEqual([id]);
    for (const work of [read, () => store.verify(id), write]) {
      const thrown = await work().then(
        () => undefined,
        (error: unknown) => error,
      );
      if (thrown === undefined) continue;
      expect(thrown).toBeInstanceOf(ChassisError);
      expect(thrown).toMatchObject({
        name: expect.stringMatching(/DamagedRecord|ChassisError/),
        message: expect.stringMatching(/damaged|move it away/),
      });
    }
    if (place === 'snapshots') {
      expect((await store.verify(id)).ok).toBe(true);
      expect(await read()).toBe(41);
    }
    await store.close();
  },
);
