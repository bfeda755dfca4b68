/** Faults that other harnesses were reported for, played against this journal. */
import { spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { createReadStream, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { exportBundle, fileStore, Secrets, type Writer, writeBundleFile } from '../src/index.ts';
import { GENESIS, LineEncoder } from '../src/line.ts';
import { collect, folder, header, Run } from './build.ts';

const file = (name: string): string => readFileSync(join(import.meta.dirname, 'files', name), 'utf8');
const logOf = (root: string, id: string): string =>
  join(root, 'sessions', id, 'log', `${'0'.repeat(20)}.jsonl`);

function toolStep(writer: Writer, input: unknown): number {
  const data = {
    kind: 'tool',
    name: 't',
    input,
    digest: '',
    causes: [],
    parent: null,
    agent: 'main',
    turn: 1,
    plugin: null,
  };
  return writer.append('step.started', data as never).step as number;
}

test('line separators inside text split no record, for any reader', async () => {
  using dir = folder();
  const texts = file('b1_unicode_lines.ndjson')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line).data.text as string);
  expect(texts.map((text) => text.length)).toEqual([3, 5, 5, 6, 4]);
  texts.push('x\u2028y\u0085z\r\n', '\ud83d half an emoji', '\0');
  const store = fileStore({ root: dir.path });
  const writer = await store.create(header('s'));
  for (const text of texts) writer.append('input.received', { turn: 1, content: text });
  await writer.close();
  const again = await store.open('s');
  expect(again.view.turns.map(({ input }) => input)).toEqual(texts);
  // What was read can be written and read again.
  for (const { input } of [...again.view.turns]) again.append('input.received', { turn: 2, content: input });
  expect(again.view.turns.map(({ input }) => input)).toEqual([...texts, ...texts]);
  await again.close();
  const path = logOf(dir.path, 's');
  const count = 1 + texts.length * 2;
  const readline = createInterface({ input: createReadStream(path), crlfDelay: Number.POSITIVE_INFINITY });
  expect(await collect(readline)).toHaveLength(count);
  expect(
    readFileSync(path, 'utf8')
      .trimEnd()
      .split(/[\n\r\u2028\u2029\u0085]/),
  ).toHaveLength(count);
  const python =
    'import sys,json; print(len([json.loads(l) for l in open(sys.argv[1],encoding="utf-8").read().splitlines()]))';
  expect(spawnSync('python3', ['-c', python, path], { encoding: 'utf8' }).stdout.trim()).toBe(String(count));
  await store.close();
});

test('a sequence number that was used twice is reported at its place; all events are shown and nothing crashes', async () => {
  using dir = folder();
  const store = fileStore({ root: dir.path });
  await (await store.create(header('s'))).close();
  // Two processes appended after the same event, as in the report.
  const [opened] = await collect((await store.reader('s')).events());
  const written = file('b5_dupseq.ndjson')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(written.map(({ seq }) => seq)).toEqual([579, 580, 580, 581]);
  const encoder = new LineEncoder('s', opened?.hash ?? GENESIS);
  const lines: string[] = [];
  let before = encoder.hash;
  for (const [i, event] of written.entries()) {
    if (i === 2) encoder.hash = before;
    before = encoder.hash;
    lines.push(
      encoder.encode(event.seq - 578, 1, event.type, undefined, JSON.stringify(event.data)).toString(),
    );
  }
  writeFileSync(logOf(dir.path, 's'), lines.join(''), { flag: 'a' });
  const { ok, problems } = await store.verify('s');
  expect(ok).toBe(false);
  expect(problems).toMatchObject([{ kind: 'duplicate', seq: 2 }]);
  const events = await collect((await store.reader('s')).events());
  expect(events.slice(1).map(({ seq }) => seq)).toEqual([1, 2, 2, 3]);
  expect((await collect(store.list()))[0]?.problem).toContain('stands here again');
  await expect(store.open('s')).rejects.toMatchObject({ name: 'DamagedRecord' });
  await store.close();
});

test('an event of an unknown type opens, is shown, and is kept byte for byte after going on', async () => {
  using dir = folder();
  const store = fileStore({ root: dir.path });
  const writer = await store.create(header('s'));
  for (const line of file('b8_unknown_event.ndjson').trimEnd().split('\n').slice(1)) {
    const { type, data } = JSON.parse(line);
    if (type === 'user.message')
      writer.append('input.received', { turn: 1, content: data.text, mood: data.mood } as never);
    else writer.append(type, data);
  }
  await writer.close();
  const before = readFileSync(logOf(dir.path, 's'));
  const again = await store.open('s');
  again.append('x-orders.page' as never, { page: 2 } as never);
  await again.close();
  expect(readFileSync(logOf(dir.path, 's')).subarray(0, before.length)).toEqual(before);
  const events = await collect((await store.reader('s')).events());
  expect(events.map(({ type }) => type)).toEqual([
    'session.opened',
    'input.received',
    'session.sparkle',
    'assistant.message',
    'x-orders.page',
  ]);
  expect(events[1]?.data).toEqual({ turn: 1, content: 'hello', mood: 'calm' });
  expect(events[2]?.data).toEqual({ level: 3 });
  expect((await (await store.reader('s')).view()).turns).toEqual([{ number: 1, input: 'hello' }]);
  await store.close();
});

test('killed between the start and the result of one of two parallel calls: told apart from the finished one', async () => {
  using dir = folder();
  const store = fileStore({ root: dir.path });
  const writer = await store.create(header('s'));
  for (const n of [1, 2]) {
    const step = toolStep(writer, { n });
    writer.append('step.dispatched', { attempt: 1, idempotency_key: `k${n}` }, step);
  }
  writer.append('step.finished', { status: 'ok', output: 'copied 1', duration_ms: 1, attempts: 1 }, 1);
  toolStep(writer, { n: 3 });
  await writer.barrier();
  writeFileSync(logOf(dir.path, 's'), '{"v":1,"session":"s","se', { flag: 'a' });
  // The process is gone: its lock names a process that never was.
  const lock = join(dir.path, 'sessions', 's', 'lock');
  writeFileSync(
    lock,
    JSON.stringify({ ...JSON.parse(readFileSync(lock, 'utf8')), started: '0', nonce: 'x' }),
  );
  const resumed = await fileStore({ root: dir.path }).open('s');
  expect(resumed.view.steps.map(({ status }) => status)).toEqual(['ok', 'dispatched', 'started']);
  const repaired = (await collect((await store.reader('s')).events())).at(-1);
  expect(repaired).toMatchObject({ type: 'session.repaired', data: { steps: [2] } });
  resumed.append('step.finished', { status: 'unknown', duration_ms: 0, attempts: 1 }, 2);
  await resumed.close();
  const third = await fileStore({ root: dir.path }).open('s');
  expect(third.view.step(2)?.status).toBe('unknown');
  expect(third.view.steps.filter((step) => step.seq.finished !== undefined)).toHaveLength(2);
  await third.close();
  expect((await store.verify('s')).ok).toBe(true);
  // The first writer, should it live after all, finds out before it writes.
  writer.append('note.added', { text: 'late', author: 'me' });
  await expect(writer.barrier()).rejects.toMatchObject({ name: 'Conflict' });
  await writer.close();
  expect((await store.verify('s')).ok).toBe(true);
  await store.close();
});

test('tokens of attempts that were cut count, unknown ones are not taken for none', async () => {
  using dir = folder();
  const store = fileStore({ root: dir.path });
  const writer = await store.create(header('s'));
  const step = toolStep(writer, {});
  const usage = { input: 50, cached: 0, output: 12, reasoning: 0 };
  const error = { code: -32010, name: 'ModelError', message: 'cut' };
  writer.append('step.attempt', { attempt: 1, error, usage: null, wait_ms: 0 }, step);
  writer.append(
    'step.attempt',
    { attempt: 2, error, usage: { ...usage, lower_bound: true }, wait_ms: 0 },
    step,
  );
  writer.append(
    'step.finished',
    { status: 'ok', output: 1, duration_ms: 1, attempts: 3, usage: { ...usage, output: 30 } },
    step,
  );
  await writer.close();
  expect((await collect(store.list()))[0]?.tokens).toEqual({ input: 100, output: 42 });
  const view = await (await store.reader('s')).view();
  expect(view.step(1)?.attempts.map((attempt) => attempt.usage)).toEqual([
    null,
    { ...usage, lower_bound: true },
  ]);
  await store.close();
});

test('a secret sent through every path is found in no file', async () => {
  using dir = folder();
  const canary = 'c4nary/"+ value\\1';
  const secrets = new Secrets();
  secrets.add('CANARY', canary);
  const store = fileStore({ root: dir.path, secrets, segmentBytes: 4000 });
  const writer = await store.create(header('s', { title: `use ${canary}`, settings: { key: canary } }));
  const forms = [
    canary,
    JSON.stringify({ canary }),
    JSON.stringify(JSON.stringify([canary])),
    encodeURIComponent(canary),
    Buffer.from(`user:${canary}`).toString('base64'),
  ];
  const run = new Run(writer);
  for (const form of forms) {
    run.begin(form);
    run.messages.push({ role: 'user', content: form });
    run.model(form);
    run.tool({ [form]: [form], stderr: `${'x'.repeat(9000)} ${form}` });
    const step = toolStep(writer, { headers: { authorization: form } });
    writer.append('step.dispatched', { attempt: 1, idempotency_key: 'k' }, step);
    for (const piece of form.match(/.{1,3}/gsu) ?? [])
      writer.append('step.chunk', { attempt: 1, text: piece, reasoning: piece }, step);
    writer.append(
      'step.finished',
      {
        status: 'error',
        error: { code: 1, name: 'x', message: form, data: { form } },
        duration_ms: 1,
        attempts: 1,
      },
      step,
    );
    writer.append('note.added', { text: form, author: form });
    writer.append('x-plugin.seen' as never, { [form]: { form } } as never);
    writer.append('session.ended', { outcome: 'ok', turn: 1, answer: form });
    writer.blob({ form });
  }
  const fork = await store.fork('s', writer.view.lastSeq, header('f', { title: canary })).catch(async () => {
    await writer.barrier();
    return store.fork('s', writer.view.lastSeq, header('f', { title: canary }));
  });
  await fork.close();
  await writer.close();
  await collect(store.list());
  // What is derived, and what leaves the store.
  expect(await store.search('secret CANARY')).not.toEqual([]);
  const { privateKey } = generateKeyPairSync('ed25519');
  for (const name of ['s.session.jsonl', 's.session.jsonl.zst'])
    await writeBundleFile(join(dir.path, name), exportBundle(store, 's', { sign: privateKey }));
  await store.close();
  expect(readdirSync(dir.path)).toEqual(expect.arrayContaining(['index.db', 'search.db', 's.session.jsonl']));
  const needles = [
    canary,
    ...forms.flatMap((form) => [form, JSON.stringify(form).slice(1, -1)]),
    'c4nary',
    'YzRuYXJ5',
    'NG5hcnkv',
  ];
  const unpack = `
    const { readdirSync, readFileSync } = require('node:fs'); const { zstdDecompressSync } = require('node:zlib');
    for (const entry of readdirSync(process.argv[1], { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      let bytes = readFileSync(entry.parentPath + '/' + entry.name);
      if (entry.name.endsWith('.zst')) bytes = zstdDecompressSync(bytes);
      process.stdout.write(bytes); process.stdout.write('\\n');
    }`;
  const everything = spawnSync(process.execPath, ['-e', unpack, dir.path], { maxBuffer: 1e9 }).stdout;
  expect(everything.length).toBeGreaterThan(20_000);
  expect(everything.includes('{{secret:CANARY}}')).toBe(true);
  for (const needle of needles) expect([needle, everything.includes(needle)]).toEqual([needle, false]);
});
