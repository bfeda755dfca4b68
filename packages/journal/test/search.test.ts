/** Full-text search: an index that is only derived, and that says nothing the logs do not say. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { fileStore, memoryStore, Secrets, type Store, type Writer } from '../src/index.ts';
import { folder, header, Run } from './build.ts';

let dir: ReturnType<typeof folder>;
let store: Store;
const db = (): string => join(dir.path, 'search.db');

beforeEach(() => {
  dir?.[Symbol.dispose]();
  dir = folder();
  store = fileStore({ root: dir.path });
});

async function record(
  into: Store,
  id: string,
  title: string,
  say: (writer: Writer, run: Run) => void,
): Promise<void> {
  const writer = await into.create(header(id, { title }));
  say(writer, new Run(writer));
  await writer.close();
}

/** A model step that answers as a model does. */
function answers(writer: Writer, run: Run, content: string): void {
  const step = run.model('');
  const message = { role: 'assistant', content };
  const output = { message, finish_reason: 'stop', usage: null, model: 'm' } as never;
  writer.append('step.finished', { status: 'ok', output, duration_ms: 1, attempts: 1 }, step);
}

async function fill(into: Store): Promise<void> {
  await record(into, 'a', 'Average of three days', (writer, run) => {
    run.begin('What is the **average** order value? Größe zählt');
    run.tool({ secretly: 'zebra' }, 'fetch_orders');
    answers(writer, run, `The average is 42. ${'long '.repeat(3000)} giraffe`);
    writer.append('note.added', { text: 'checked by hand', author: 'me' });
  });
  await record(into, 'b', '数据库迁移', (writer, run) => {
    run.begin('请把订单表迁移到新的数据库');
    const step = run.tool('', 'write_file');
    const error = { code: -32001, name: 'ToolError', message: 'disk quota exceeded' };
    writer.append('step.finished', { status: 'error', error, duration_ms: 1, attempts: 1 }, step);
  });
}

const found = async (text: string, of = store): Promise<string[]> =>
  (await of.search(text))
    .map(({ session, step, kind }) => `${session}${step === undefined ? '' : `:${step}`} ${kind}`)
    .sort();

async function expectFindings(of: Store): Promise<void> {
  expect(await found('average', of)).toEqual(['a input', 'a title', 'a:2 message']);
  expect(await found('AVERAGE order', of)).toEqual(['a input']);
  expect(await found('aver', of)).toEqual(['a input', 'a title', 'a:2 message']);
  expect(await found('grosse', of)).toEqual([]);
  expect(await found('große', of)).toEqual(['a input']);
  expect(await found('grÖße', of)).toEqual(['a input']);
  expect(await found('giraffe', of)).toEqual(['a:2 message']);
  expect(await found('fetch_orders', of)).toEqual(['a:1 tool']);
  expect(await found('数据库', of)).toEqual(['b input', 'b title']);
  expect(await found('订单', of)).toEqual(['b input']);
  expect(await found('"quota exceeded"', of)).toEqual(['b:1 error']);
  expect(await found('checked', of)).toEqual(['a note']);
  expect(await found('zebra', of)).toEqual([]);
  expect(await found('', of)).toEqual([]);
  for (const hostile of ['"', "' OR 1=1 --", 'a AND (', '*', 'NEAR(', 'text:x', '\ud83d', '{{secret:X}}'])
    expect(await of.search(hostile)).toEqual([]);
}

test('titles, messages, tools, errors and notes are found, in any language, by words, beginnings and phrases', async () => {
  await fill(store);
  await expectFindings(store);
  const [hit] = await store.search('giraffe');
  expect(hit).toMatchObject({ session: 'a', step: 2, kind: 'message', title: 'Average of three days' });
  expect(hit?.text).toMatch(/^….* long giraffe$/);
  expect(await store.search('average', { limit: 2 })).toHaveLength(2);
  await store.close();
});

test('what is recorded later is found later, and a fork finds what is its own', async () => {
  await fill(store);
  expect(await found('walrus')).toEqual([]);
  const writer = await store.open('a');
  new Run(writer).begin('walrus');
  await writer.close();
  expect(await found('walrus')).toEqual(['a input']);
  expect(await found('average')).toEqual(['a input', 'a title', 'a:2 message']);
  const fork = await store.fork('a', 3, header('f', { title: 'otter' }));
  new Run(fork).begin('walrus again');
  await fork.close();
  expect(await found('walrus')).toEqual(['a input', 'f input']);
  expect(await found('otter')).toEqual(['f title']);
  await store.close();
});

test('without an index, with a damaged one, and in memory the findings are the same', async () => {
  await fill(store);
  await expectFindings(store);
  for (const spoil of [() => rmSync(db()), () => writeFileSync(db(), 'no database at all'.repeat(100))]) {
    await store.close();
    spoil();
    store = fileStore({ root: dir.path });
    await expectFindings(store);
    expect(existsSync(db())).toBe(true);
  }
  await store.close();
  // A folder in its place: there can be no index at all.
  rmSync(db());
  const { mkdirSync } = await import('node:fs');
  mkdirSync(db());
  store = fileStore({ root: dir.path });
  const scanned = await found('average');
  expect(scanned).toEqual(['a input', 'a title', 'a:2 message']);
  expect(await found('数据库')).toEqual(['b input', 'b title']);
  await store.close();
  const memory = memoryStore();
  await fill(memory);
  expect(await found('average', memory)).toEqual(scanned);
});

test('a removed session is gone from the index, down to its bytes, and no secret is ever in it', async () => {
  const secrets = new Secrets();
  secrets.add('KEY', 'c4nary-value');
  const guarded = fileStore({ root: dir.path, secrets });
  await record(guarded, 'a', 'about c4nary-value', (writer, run) => {
    run.begin('use c4nary-value, platypus');
    answers(writer, run, 'it is c4nary-value');
  });
  expect(await found('platypus', guarded)).toEqual(['a input']);
  expect(readFileSync(db()).includes('platypus')).toBe(true);
  expect(readFileSync(db()).includes('c4nary')).toBe(false);
  await guarded.remove('a');
  await guarded.close();
  expect(readFileSync(db()).includes('platypus')).toBe(false);
  expect(await found('platypus')).toEqual([]);
  await store.close();
});
