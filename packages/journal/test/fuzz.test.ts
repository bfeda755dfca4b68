/** Whatever a tool answers comes back exactly, and stands in one line for every reader of lines. */
import { spawnSync } from 'node:child_process';
import { createReadStream, createWriteStream, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Json } from '@chassis/types';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { fileStore, stringifyJson } from '../src/index.ts';
import { anyValue } from './any-value.ts';
import { folder, header, Run } from './build.ts';

const FULL = process.env.CHASSIS_FULL === '1';
const VALUES = FULL ? 100_000 : 3000;
const seed = Number(process.env.CHASSIS_SEED ?? Math.floor(Math.random() * 2 ** 31));

/** Splits where Python's `splitlines` does, at every kind of line end that Unicode knows, and reads each as JSON. */
const PYTHON = `
import json, sys
lines = open(sys.argv[1], encoding="utf-8", newline="").read().splitlines()
for line in lines: json.loads(line)
print(len(lines))`;

test(`${VALUES} fuzzed values come back exactly, and every line is one record for Node, Python and jq`, {
  timeout: FULL ? 20 * 60_000 : 180_000,
}, async () => {
  using dir = folder();
  const store = fileStore({ root: dir.path, segmentBytes: 4 * 1024 * 1024 });
  const writer = await store.create(header('s'));
  const run = new Run(writer);
  const values = fc.sample(anyValue, { numRuns: VALUES, seed });
  for (const [i, value] of values.entries()) {
    // Now and then one that is large enough for a blob.
    run.tool(i % 97 === 0 ? { value, filler: 'é\u2028'.repeat(3000) } : { value });
    if (i % 500 === 0) await writer.barrier();
  }
  // Three events a value, and now and then a snapshot.
  const events = writer.view.lastSeq + 1;
  expect(events).toBeGreaterThan(3 * VALUES);
  await writer.close();

  let at = 0;
  for await (const event of (await store.reader('s')).events()) {
    if (event.type !== 'step.finished') continue;
    const { value } = (event.data as { output: { value: Json } }).output;
    const expected = values[at++] as Json;
    const same = stringifyJson(value) === stringifyJson(expected);
    if (!same) expect(stringifyJson(value), `seed ${seed}, value ${at - 1}`).toBe(stringifyJson(expected));
  }
  expect(at).toBe(VALUES);
  expect(await store.verify('s')).toMatchObject({ ok: true, events });

  const file = join(dir.path, 'all.jsonl');
  const lines = (await store.reader('s')).lines();
  await pipeline(
    Readable.from(lines).map((line: string) => `${line}\n`),
    createWriteStream(file),
  );
  await store.close();
  let count = 0;
  for await (const line of createInterface({ input: createReadStream(file) })) {
    JSON.parse(line);
    count++;
  }
  expect(count).toBe(events);
  const python = spawnSync('python3', ['-c', PYTHON, file], { encoding: 'utf8' });
  expect([python.stdout.trim(), python.stderr]).toEqual([String(count), '']);
  // jq is no part of what the tests install; where it is there it must agree.
  const raw = spawnSync('jq', ['-R', 'length > 0', file], { encoding: 'utf8', maxBuffer: 2 ** 28 });
  if (raw.error !== undefined) return;
  expect([raw.stdout.match(/^true$/gm)?.length, raw.stderr]).toEqual([count, '']);
  // Half a surrogate pair has no other form in JSON; jq refuses it up to 1.6, and reads it as U+FFFD from 1.7 on.
  const readable = readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .filter((line) => !/\\ud[89ab]/.test(line));
  expect(readable.length).toBeGreaterThan(count / 2);
  const parsed = spawnSync('jq', ['-c', '.seq'], {
    input: readable.join('\n'),
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  });
  expect([parsed.stdout.trimEnd().split('\n').length, parsed.stderr]).toEqual([readable.length, '']);
});
