import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { folder, header, Run } from '../../test/build.ts';
import type { EventHead } from '../event.ts';
import { memoryStore } from '../memory-store.ts';
import type { Reader, Store } from '../store.ts';
import { fileStore } from './file-store.ts';

async function recorded(store: Store): Promise<void> {
  const writer = await store.create(header('s'));
  const run = new Run(writer);
  run.begin();
  for (let part = 0; part < 8; part++) {
    run.cycles(5);
    await writer.barrier();
  }
  run.end();
  await writer.close();
  const fork = await store.fork('s', 50, header('f'));
  fork.append('note.added', { text: 'from here', author: 'me' });
  await fork.close();
}

/** What heads must say, from the lines themselves. */
async function expected(reader: Reader, from = 0, to = Number.POSITIVE_INFINITY): Promise<EventHead[]> {
  const heads: EventHead[] = [];
  for await (const line of reader.lines()) {
    const { seq, time, type, step } = JSON.parse(line) as EventHead;
    if (from <= seq && seq <= to) heads.push({ seq, time, type, step, bytes: Buffer.byteLength(line) });
  }
  return heads;
}

const heads = async (reader: Reader, options?: { from?: number; to?: number }): Promise<EventHead[]> =>
  (await Array.fromAsync(reader.heads(options))).flat();

test('heads say what the lines say, of sealed and open segments, forks and parts of a session', async () => {
  using dir = folder();
  for (const store of [fileStore({ root: dir.path, segmentBytes: 8000 }), memoryStore()]) {
    await recorded(store);
    for (const id of ['s', 'f']) {
      const reader = await store.reader(id);
      const all = await expected(reader);
      expect(all.length).toBeGreaterThan(50);
      expect(await heads(reader)).toEqual(all);
      for (const [from, to] of [
        [0, 0],
        [7, 7],
        [13, 49],
        [49, 52],
        [200, 1000],
      ] as const)
        expect(await heads(reader, { from, to })).toEqual(all.filter(({ seq }) => from <= seq && seq <= to));
    }
    await store.close();
  }
});

test('a damaged part of a log costs only its own heads', async () => {
  using dir = folder();
  const store = fileStore({ root: dir.path, segmentBytes: 8000 });
  await recorded(store);
  const reader = await store.reader('s');
  const all = await expected(reader);
  const log = join(dir.path, 'sessions', 's', 'log');
  const [first = '', second = ''] = readdirSync(log).filter((name) => name.endsWith('.zst'));
  const bytes = readFileSync(join(log, first));
  bytes[20] = (bytes[20] as number) ^ 0xff;
  writeFileSync(join(log, first), bytes);
  expect(await heads(reader)).toEqual(all.filter(({ seq }) => seq >= Number.parseInt(second, 10)));
  await store.close();
});
