import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { collect, folder, header, Run } from '../test/build.ts';
import { exportBundle, verifyBundle } from './bundle.ts';
import { readBundleFile, writeBundleFile } from './bundle-file.ts';
import { fileStore } from './file/file-store.ts';
import { importBundle } from './importer.ts';
import { memoryStore } from './memory-store.ts';
import type { Store } from './store.ts';

async function* from(lines: readonly string[]): AsyncGenerator<string> {
  yield* lines;
}

async function recorded(store: Store): Promise<void> {
  const writer = await store.create(header('p'));
  const run = new Run(writer);
  run.begin('é \u2028 \ud83d');
  run.cycles(2);
  run.tool({ text: 'large '.repeat(3000) });
  const after = writer.blob(Buffer.from([0, 1, 255])).$blob.sha256;
  const { step } = writer.append('step.started', {
    kind: 'tool',
    name: 'w',
    input: 'x'.repeat(9000),
    digest: '',
    causes: [],
    parent: null,
    agent: 'main',
    turn: 1,
    plugin: null,
  });
  const effect = { kind: 'file', op: 'create', path: 'f', before: null, after } as const;
  writer.append('step.finished', { status: 'ok', duration_ms: 1, attempts: 1, effects: [effect] }, step);
  run.end();
  await writer.close();
  const fork = await store.fork('p', 12, header('f'));
  fork.append('session.forked', {
    parent: { session: 'p', seq: 12, step: 4 },
    edits: [{ step: 4, path: '/output', value: 'y'.repeat(9000) }],
    rerun: [],
  });
  await fork.close();
}

test('a session that was exported and imported is the same, and exports the same again', async () => {
  using dir = folder();
  const source = fileStore({ root: join(dir.path, 'a'), segmentBytes: 2000 });
  await recorded(source);
  const targets = [memoryStore(), fileStore({ root: join(dir.path, 'b'), segmentBytes: 3000 })];
  for (const id of ['p', 'f']) {
    const bundle = await collect(exportBundle(source, id));
    expect(await verifyBundle(from(bundle))).toMatchObject({ ok: true, session: id });
    for (const target of targets) {
      expect(await importBundle(target, from(bundle))).toEqual({ session: id, fresh: true });
      // Again, this time with Windows line ends: nothing happens.
      expect(await importBundle(target, from(bundle.map((line) => `${line}\r\n`)))).toEqual({
        session: id,
        fresh: false,
      });
      expect(await collect(exportBundle(target, id))).toEqual(bundle);
      const { ok, head_hash, events } = await target.verify(id);
      expect(ok).toBe(true);
      expect({ head_hash, events }).toMatchObject(
        await source.verify(id).then(({ head_hash, events }) => ({ head_hash, events })),
      );
      const [view, original] = await Promise.all(
        [target, source].map(async (store) => (await store.reader(id)).view()),
      );
      expect(structuredClone(view?.steps)).toEqual(structuredClone(original?.steps));
    }
  }
  // The imported fork holds its past itself: it needs no parent, and can be resumed.
  for (const target of targets) {
    await target.remove('p');
    const writer = await target.open('f');
    writer.append('note.added', { text: 'on', author: 'me' });
    await writer.close();
    expect((await target.verify('f')).ok).toBe(true);
    await target.close();
  }
  await source.close();
});

test('a bundle brings the files that its steps wrote', async () => {
  const source = memoryStore();
  await recorded(source);
  const target = memoryStore();
  await importBundle(target, exportBundle(source, 'p'));
  const [step] = (await (await target.reader('p')).view()).steps.slice(-1);
  const [effect] = step?.effects ?? [];
  expect(effect?.kind === 'file' && Buffer.from((await target.blob(effect.after as string)) ?? [])).toEqual(
    Buffer.from([0, 1, 255]),
  );
});

test('another session of the same id is never touched', async () => {
  const [one, two] = [memoryStore(), memoryStore()];
  await recorded(one);
  const writer = await two.create(header('p'));
  await writer.close();
  const before = await collect((await two.reader('p')).lines());
  await expect(importBundle(two, exportBundle(one, 'p'))).rejects.toMatchObject({ name: 'Conflict' });
  expect(await collect((await two.reader('p')).lines())).toEqual(before);
});

test('a damaged or incomplete bundle is refused with its line, and leaves nothing behind', async () => {
  using dir = folder();
  const source = memoryStore();
  await recorded(source);
  const bundle = await collect(exportBundle(source, 'f'));
  const target = fileStore({ root: dir.path });
  await fc.assert(
    fc.asyncProperty(
      fc.nat(bundle.length - 2),
      fc.constantFrom('drop', 'change', 'twice'),
      async (at, how) => {
        const copy = [...bundle];
        const line = copy[at] as string;
        if (how === 'drop') copy.splice(at, 1);
        if (how === 'twice' && !line.startsWith('{"blob"')) copy.splice(at, 0, line);
        else if (how === 'twice') return;
        if (how === 'change')
          copy[at] = line.replace(/[a-z](?=[^a-z]*$)/, (letter) => (letter === 'x' ? 'y' : 'x'));
        expect((await verifyBundle(from(copy))).ok).toBe(false);
        await expect(importBundle(target, from(copy))).rejects.toThrow(/^line \d+ of the bundle: /);
        expect(await collect(target.list())).toEqual([]);
      },
    ),
    { numRuns: 60 },
  );
  await target.close();
});

test('bundles as files, plain and compressed', async () => {
  using dir = folder();
  const source = memoryStore();
  await recorded(source);
  const lines = await collect(exportBundle(source, 'f'));
  for (const name of ['f.session.jsonl', 'f.session.jsonl.zst']) {
    const path = join(dir.path, name);
    await writeBundleFile(path, exportBundle(source, 'f'));
    expect(await collect(readBundleFile(path))).toEqual(lines);
  }
  expect(readFileSync(join(dir.path, 'f.session.jsonl'), 'utf8')).toBe(`${lines.join('\n')}\n`);
  writeFileSync(join(dir.path, 'bad.zst'), 'no zstd');
  await expect(collect(readBundleFile(join(dir.path, 'bad.zst')))).rejects.toThrow('cannot be read');
  await expect(collect(readBundleFile(join(dir.path, 'none.jsonl')))).rejects.toThrow('ENOENT');
});
