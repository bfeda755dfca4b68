/** Any file of a store damaged in any way: whatever is asked of it ends with an answer or with an error that says what is wrong. */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { toChassisError } from '@chassis/errors';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { exportBundle, fileStore, type Store } from '../src/index.ts';
import { collect, folder, header, Run } from './build.ts';

const FULL = process.env.CHASSIS_FULL === '1';
const OPTIONS = { segmentBytes: 6000, snapshotEvents: 32 };

async function make(root: string): Promise<void> {
  const store = fileStore({ root, ...OPTIONS });
  const writer = await store.create(header('a'));
  const run = new Run(writer);
  run.begin();
  for (let i = 0; i < 12; i++) {
    run.cycles(1);
    if (i % 3 === 0) run.tool({ text: `${i} `.repeat(4000) });
    await writer.barrier();
  }
  run.end();
  await writer.close();
  const fork = await store.fork('a', 40, header('f'));
  new Run(fork).cycles(3);
  await fork.close();
  await collect(store.list());
  await store.search('call');
  await store.close();
}

const damages: Record<string, (path: string, bytes: Buffer, at: number) => void> = {
  gone: (path) => rmSync(path),
  empty: (path) => writeFileSync(path, ''),
  cut: (path, bytes, at) => writeFileSync(path, bytes.subarray(0, Math.floor(at * bytes.length))),
  flipped: (path, bytes, at) => {
    const copy = Buffer.from(bytes);
    const place = Math.floor(at * bytes.length);
    if (bytes.length > 0) copy[place] = (copy[place] as number) ^ (1 << Math.floor(at * 8));
    writeFileSync(path, copy);
  },
  zeroed: (path, bytes) => writeFileSync(path, Buffer.alloc(bytes.length)),
  other: (path, _bytes, at) => {
    const texts = ['null', '{}', '[]', '"x"', '{"v":1}', '{"v":1,"id":7}', '{"pid":"x"}', '\u0000\ufffd'];
    writeFileSync(path, texts[Math.floor(at * texts.length)] as string);
  },
};

const verbs: Record<string, (store: Store) => Promise<unknown>> = {
  list: (store) => collect(store.list()),
  search: (store) => store.search('call'),
  find: (store) => store.find('@last'),
  verify: (store) => store.verify('a'),
  'verify a fork': (store) => store.verify('f'),
  view: async (store) =>
    (await (await store.reader('a')).view()).steps.map(({ input, output }) => [input, output]),
  'view a fork': async (store) =>
    (await (await store.reader('f')).view(50)).steps.map(({ output }) => output),
  events: async (store) => collect((await store.reader('a')).events()),
  lines: async (store) => collect((await store.reader('f')).lines({ from: 30 })),
  export: (store) => collect(exportBundle(store, 'f')),
  'plan a repair': (store) => store.repair('a'),
  fork: async (store) => (await store.fork('a', 30, header('g'))).close(),
  open: async (store) => (await store.open('a')).close(),
  'open by force': async (store) => (await store.open('f', { force: true })).close(),
  repair: (store) => store.repair('a', { apply: true }),
  'repair a fork': (store) => store.repair('f', { apply: true }),
  collect: (store) => store.collect(),
};

test('nothing that is asked of a damaged store ends with an error of our own', {
  timeout: 600_000,
}, async () => {
  using dir = folder();
  const [whole, root] = [join(dir.path, 'whole'), join(dir.path, 'root')];
  await make(whole);
  const files = readdirSync(whole, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(whole, join(entry.parentPath, entry.name)));
  expect(files.length).toBeGreaterThan(15);
  const damage = fc.record({
    file: fc.constantFrom(...files),
    kind: fc.constantFrom(...Object.keys(damages)),
    at: fc.double({ min: 0, max: 0.999, noNaN: true }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(damage, { minLength: 1, maxLength: 3 }), async (all) => {
      rmSync(root, { recursive: true, force: true });
      mkdirSync(root);
      cpSync(whole, root, { recursive: true });
      for (const { file, kind, at } of all) {
        const path = join(root, file);
        if (existsSync(path)) damages[kind]?.(path, readFileSync(path), at);
      }
      const store = fileStore({ root, ...OPTIONS });
      for (const [name, ask] of Object.entries(verbs)) {
        const thrown = await ask(store).catch((error: unknown) => error);
        if (thrown instanceof Error)
          expect(toChassisError(thrown).name, `${name}: ${thrown.stack}`).not.toBe('InternalError');
      }
      await store.close();
    }),
    { numRuns: FULL ? 300 : 12, examples: [[[{ file: 'sessions/a/head.json', kind: 'other', at: 0.55 }]]] },
  );
});
