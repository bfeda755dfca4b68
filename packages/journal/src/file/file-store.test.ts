import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { collect, folder, header, Run, TOOLS } from '../../test/build.ts';
import { lostBlobIn } from '../blob-ref.ts';
import { describeProblem, type Problem } from '../problem.ts';
import { Secrets } from '../secrets.ts';
import type { SessionView } from '../step.ts';
import type { Store } from '../store.ts';
import { fileStore } from './file-store.ts';

const sha256 = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex');

async function recorded(store: Store, id: string, cycles = 3): Promise<void> {
  const writer = await store.create(header(id));
  const run = new Run(writer);
  run.begin();
  run.cycles(cycles).end();
  await writer.close();
}

const logOf = (root: string, id: string): string =>
  join(root, 'sessions', id, 'log', `${'0'.repeat(20)}.jsonl`);

test('a session is plain files that only their owner can read', async () => {
  using dir = folder();
  const root = join(dir.path, '.chassis');
  const store = fileStore({ root });
  await recorded(store, 's1');
  expect(readFileSync(join(root, '.gitignore'), 'utf8')).toBe('*\n');
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    const mode = statSync(join(entry.parentPath, entry.name)).mode & 0o777;
    expect(mode).toBe(entry.isDirectory() ? 0o700 : 0o600);
  }
  expect(readdirSync(join(root, 'sessions', 's1')).sort()).toEqual(['head.json', 'log']);
  const lines = readFileSync(logOf(root, 's1'), 'utf8').trimEnd().split('\n');
  const events = lines.map((line) => JSON.parse(line));
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, i) => i));
  expect(events[0]).toMatchObject({ v: 1, session: 's1', type: 'session.opened', data: header('s1') });
  expect(JSON.parse(readFileSync(join(root, 'sessions', 's1', 'head.json'), 'utf8'))).toEqual(events[0].data);
  expect(Object.keys(events[1]).at(-1)).toBe('hash');
  await store.close();
});

test('what a barrier acknowledged is in the file', async () => {
  using dir = folder();
  const store = fileStore({ root: dir.path });
  const writer = await store.create(header('s'));
  for (let i = 0; i < 20; i++) {
    writer.append('note.added', { text: `n${i}`, author: 'me' });
    await writer.barrier();
    expect(readFileSync(logOf(dir.path, 's'), 'utf8')).toContain(`"n${i}"`);
  }
  await writer.close();
});

test('a finished segment is sealed, and reads as before', async () => {
  using dir = folder();
  const store = fileStore({ root: dir.path, segmentBytes: 4000 });
  const writer = await store.create(header('s'));
  const run = new Run(writer);
  for (let i = 0; i < 30; i++) {
    run.cycles(1);
    await writer.barrier();
  }
  await writer.close();
  const names = readdirSync(join(dir.path, 'sessions', 's', 'log'));
  const sealed = names.filter((name) => name.endsWith('.jsonl.zst'));
  expect(sealed.length).toBeGreaterThan(3);
  expect(names.filter((name) => name.endsWith('.jsonl'))).toHaveLength(1);
  for (const name of sealed) expect(names).toContain(name.replace('.zst', '.idx'));
  const reader = await store.reader('s');
  const lines = await collect(reader.lines());
  expect(lines.map((line) => JSON.parse(line).seq)).toEqual(lines.map((_, i) => i));
  expect(await store.verify('s')).toMatchObject({ ok: true, events: lines.length });
  // From the middle, with and without the offset tables.
  const middle = await collect(reader.lines({ from: 50, to: 60 }));
  expect(middle).toEqual(lines.slice(50, 61));
  for (const name of names.filter((one) => one.endsWith('.idx')))
    rmSync(join(dir.path, 'sessions', 's', 'log', name));
  expect(await collect(reader.lines({ from: 50, to: 60 }))).toEqual(middle);
  expect(await collect(reader.lines())).toEqual(lines);
  const first = zstdDecompressSync(readFileSync(join(dir.path, 'sessions', 's', 'log', sealed[0] as string)));
  expect(lines.join('\n').startsWith(first.toString('utf8').trimEnd())).toBe(true);
  const again = await store.open('s');
  expect(again.view.steps).toHaveLength(60);
  await again.close();
});

test('a damaged frame of a sealed segment costs its own events, with and without the offset table', async () => {
  using dir = folder();
  const store = fileStore({ root: dir.path, segmentBytes: 2_500_000 });
  const writer = await store.create(header('s'));
  const noise = Array.from({ length: 400 }, (_, i) =>
    createHash('sha512').update(String(i)).digest('base64').repeat(30),
  );
  for (let i = 0; i < 1300; i++)
    writer.append('note.added', { text: noise[i % 400] as string, author: String(i) });
  await writer.close();
  const log = join(dir.path, 'sessions', 's', 'log');
  const name = readdirSync(log).find((one) => one.endsWith('.zst')) as string;
  const table = JSON.parse(readFileSync(join(log, name.replace('.zst', '.idx')), 'utf8'));
  expect(table.frames.length).toBeGreaterThan(2);
  const [, second, third] = table.frames;
  const bytes = readFileSync(join(log, name));
  bytes[second.offset + 2000] = (bytes[second.offset + 2000] as number) ^ 1;
  writeFileSync(join(log, name), bytes);
  for (const withTable of [true, false]) {
    if (!withTable) rmSync(join(log, name.replace('.zst', '.idx')));
    const { problems } = await store.verify('s');
    expect(problems[0]).toMatchObject({
      kind: 'frame',
      file: name,
      offset: second.offset,
      length: second.length,
    });
    const seen = new Set((await collect((await store.reader('s')).events())).map(({ seq }) => seq));
    expect(Array.from({ length: 1301 }, (_, seq) => seq).filter((seq) => !seen.has(seq))).toEqual(
      Array.from({ length: third.seq - second.seq }, (_, i) => second.seq + i),
    );
  }
  await store.close();
});

test('a session goes on where it ended', async () => {
  using dir = folder();
  const store = fileStore({ root: dir.path });
  await recorded(store, 's');
  for (let i = 0; i < 3; i++) {
    const writer = await store.open('s');
    writer.append('note.added', { text: `again ${i}`, author: 'me' });
    await writer.close();
  }
  expect((await (await store.reader('s')).view()).notes.map(({ text }) => text)).toEqual([
    'again 0',
    'again 1',
    'again 2',
  ]);
  expect((await store.verify('s')).ok).toBe(true);
  expect(readdirSync(join(dir.path, 'sessions', 's', 'log'))).toHaveLength(1);
  await store.close();
});

test('the view of a writer goes on being whole when what is old has left its memory', async () => {
  using here = folder();
  const store = fileStore({ root: here.path, segmentBytes: 100_000, snapshotEvents: 200 });
  const writer = await store.create(header());
  const run = new Run(writer);
  run.begin();
  for (let i = 0; i < 8; i++) {
    writer.append('value.read', { name: 'random', value: i, agent: 'main', turn: 1 });
    run.cycles(100);
    await writer.barrier();
  }
  const { view } = writer;
  // Had it stayed in memory, it would be the same object each time.
  const first = view.step(2);
  for (let number = 3; number < 600; number++) view.step(number);
  expect(view.step(2)).toEqual(first);
  expect(view.step(2)).not.toBe(first);
  const read = await (await store.reader(writer.id)).view(undefined, { whole: true });
  expect([...view.steps]).toEqual([...read.steps]);
  expect(view.values).toEqual(read.values);
  expect(view.request(1401)).toEqual(read.request(1401));
  expect(view.request(1)).toEqual(read.request(1));
  await writer.close();
  expect(view.step(2)).toEqual(first);
  await store.close();
});

test('a fork adds a few bytes, whatever the length of its parent, and leaves the parent as it is', async () => {
  using dir = folder();
  const store = fileStore({ root: dir.path });
  const sizes: number[] = [];
  for (const cycles of [2, 200]) {
    const id = `parent${cycles}`;
    await recorded(store, id, cycles);
    const before = sha256(logOf(dir.path, id));
    const view = await (await store.reader(id)).view();
    const seq = view.step(cycles)?.seq.finished as number;
    const fork = await store.fork(id, seq, header(`fork${cycles}`));
    fork.append('session.forked', { parent: { session: id, seq, step: cycles }, edits: [], rerun: [] });
    expect(fork.view.steps).toHaveLength(cycles);
    new Run(fork).cycles(1);
    await fork.close();
    expect(sha256(logOf(dir.path, id))).toBe(before);
    expect(await store.verify(fork.id)).toMatchObject({ ok: true, events: seq + 1 + 2 + 6 });
    const own = join(dir.path, 'sessions', fork.id);
    sizes.push(
      readdirSync(own, { recursive: true, withFileTypes: true }).reduce(
        (sum, entry) => sum + (entry.isFile() ? statSync(join(entry.parentPath, entry.name)).size : 0),
        0,
      ),
    );
    // Equal after every reading; a fork of the fork too.
    const once = await collect((await store.reader(fork.id)).events());
    expect(await collect((await store.reader(fork.id)).events())).toEqual(once);
    expect(once.map((event) => event.seq)).toEqual(once.map((_, i) => i));
    const grandchild = await store.fork(fork.id, 5, header(`grand${cycles}`));
    await grandchild.close();
    expect(await store.verify(grandchild.id)).toMatchObject({ ok: true, events: 7 });
  }
  expect(Math.abs((sizes[1] as number) - (sizes[0] as number))).toBeLessThan(200);
  expect(sizes[1]).toBeLessThan(4096);
  await expect(store.fork('parent2', 999, header('x'))).rejects.toThrow(
    'parent2 has no event 999; its last one is 14',
  );
  await store.close();
});

test('a torn tail goes to the quarantine, is reported, and the next event starts on a line of its own', async () => {
  using dir = folder();
  const store = fileStore({ root: dir.path });
  await recorded(store, 's');
  const path = logOf(dir.path, 's');
  const whole = readFileSync(path);
  const torn = Buffer.from('{"v":1,"session":"s","seq":99,"ti');
  appendFileSync(path, torn);
  expect((await store.verify('s')).problems).toMatchObject([
    { kind: 'torn', offset: whole.length, length: torn.length },
  ]);
  const writer = await store.open('s');
  await writer.close();
  const [name] = readdirSync(join(dir.path, 'sessions', 's', 'quarantine'));
  expect(readFileSync(join(dir.path, 'sessions', 's', 'quarantine', name as string))).toEqual(torn);
  const after = readFileSync(path);
  expect(after.subarray(0, whole.length)).toEqual(whole);
  expect(JSON.parse(String(after.subarray(whole.length)))).toMatchObject({
    type: 'session.repaired',
    data: {
      problems: [{ kind: 'torn', offset: whole.length, length: torn.length, quarantine: name }],
      steps: [],
    },
  });
  expect((await store.verify('s')).ok).toBe(true);
  await store.close();
});

test('damage in the middle costs only the damaged event; going on needs force', async () => {
  using dir = folder();
  const store = fileStore({ root: dir.path });
  await recorded(store, 's');
  const path = logOf(dir.path, 's');
  const bytes = readFileSync(path);
  const at = bytes.indexOf('call 2');
  bytes[at] = (bytes[at] as number) ^ 4;
  writeFileSync(path, bytes);
  const { ok, problems } = await store.verify('s');
  expect(ok).toBe(false);
  expect(problems).toHaveLength(1);
  const [problem] = problems;
  expect(problem).toMatchObject({ kind: 'hash', file: `${'0'.repeat(20)}.jsonl` });
  expect(
    bytes.subarray(problem?.offset, (problem?.offset ?? 0) + (problem?.length ?? 0)).includes('gall 2'),
  ).toBe(true);
  const events = await collect((await store.reader('s')).events());
  expect(events.map(({ seq }) => seq)).not.toContain(problem?.seq);
  expect((await collect(store.list()))[0]?.problem).toContain('its bytes do not match its hash');
  await expect(store.open('s')).rejects.toMatchObject({ name: 'DamagedRecord' });
  const before = sha256(path);
  const writer = await store.open('s', { force: true });
  await writer.close();
  expect(createHash('sha256').update(readFileSync(path).subarray(0, bytes.length)).digest('hex')).toBe(
    before,
  );
  expect((await (await store.reader('s')).view()).lastSeq).toBe(21);
  expect((await collect(store.list()))[0]?.problem).toContain('its bytes do not match its hash');
  await store.close();
});

test('a log that was cut at the end of a line is noticed', async () => {
  using dir = folder();
  const store = fileStore({ root: dir.path });
  await recorded(store, 's');
  const path = logOf(dir.path, 's');
  const bytes = readFileSync(path);
  truncateSync(path, bytes.lastIndexOf(10, bytes.length - 2) + 1);
  expect((await store.verify('s')).problems).toMatchObject([{ kind: 'truncated', seq: 20 }]);
  expect((await collect(store.list()))[0]?.problem).toContain('1 event is missing at the end');
  expect((await store.verify('s')).problems).toMatchObject([{ kind: 'truncated' }]);
  await expect(store.open('s')).rejects.toThrow('once reached further');
  await store.close();
});

test('a missing or damaged blob is named; the rest can be read', async () => {
  using dir = folder();
  const store = fileStore({ root: dir.path });
  const writer = await store.create(header('s'));
  const run = new Run(writer);
  run.tool({ text: 'a'.repeat(10_000) });
  run.tool({ text: 'b'.repeat(10_000) });
  await writer.close();
  const blobs = readdirSync(join(dir.path, 'blobs'), { recursive: true, withFileTypes: true }).filter(
    (entry) => entry.isFile(),
  );
  expect(blobs).toHaveLength(2);
  const [one, two] = blobs.map((entry) => join(entry.parentPath, entry.name)) as [string, string];
  rmSync(one);
  writeFileSync(two, 'garbage');
  const fresh = fileStore({ root: dir.path });
  expect((await fresh.verify('s')).problems.map(({ kind }) => kind).sort()).toEqual([
    'blob-damaged',
    'blob-missing',
  ]);
  const view = await (await fresh.reader('s')).view();
  expect(view.step(1)?.output).toHaveProperty('$blob');
  expect(view.steps).toHaveLength(2);
  await fresh.close();
});

test('a newer format is refused with both versions, listed, and never altered', async () => {
  using dir = folder();
  const store = fileStore({ root: dir.path });
  await recorded(store, 'now');
  const session = join(dir.path, 'sessions', 'future');
  mkdirSync(join(session, 'log'), { recursive: true });
  writeFileSync(join(session, 'head.json'), JSON.stringify({ ...header('future'), v: 99 }));
  writeFileSync(logOf(dir.path, 'future'), '{"v":99,"new":"shape"}\n');
  const before = sha256(logOf(dir.path, 'future'));
  for (const attempt of [
    store.open('future'),
    store.open('future', { force: true }),
    store.reader('future'),
    store.verify('future'),
  ]) {
    await expect(attempt).rejects.toThrow('format version 99; this Chassis reads versions up to 1');
  }
  const listed = await collect(store.list());
  expect(listed.map(({ id, outcome }) => [id, outcome])).toContainEqual(['future', 'unreadable']);
  expect(listed.find(({ id }) => id === 'future')?.problem).toContain('99');
  expect(sha256(logOf(dir.path, 'future'))).toBe(before);
  expect(readdirSync(session).sort()).toEqual(['head.json', 'log']);
  await store.close();
});

test('sessions are listed newest first, also without an index or with a broken one', async () => {
  using dir = folder();
  const store = fileStore({ root: dir.path });
  for (const [i, id] of ['one', 'two', 'three'].entries()) {
    const writer = await store.create(header(id, { created: 1000 + i, title: `task ${id}` }));
    const run = new Run(writer);
    run.begin();
    const { step } = writer.append('step.started', {
      kind: 'tool',
      name: 't',
      input: 1,
      digest: '',
      causes: [],
      parent: null,
      agent: 'main',
      turn: 1,
      plugin: null,
    });
    writer.append(
      'step.finished',
      {
        status: 'ok',
        output: 1,
        duration_ms: 1,
        attempts: 1,
        usage: { input: 100, cached: 0, output: 7, reasoning: 0, cost_usd: 0.5 },
      },
      step,
    );
    if (id === 'two') writer.append('session.ended', { outcome: 'failed', turn: 1 });
    if (id !== 'three') await writer.close();
    else await writer.barrier();
  }
  const expected = [
    {
      id: 'three',
      outcome: 'running',
      title: 'task three',
      steps: 1,
      events: 4,
      tokens: { input: 100, output: 7 },
      cost_usd: 0.5,
    },
    { id: 'two', outcome: 'failed', events: 5 },
    { id: 'one', outcome: 'interrupted', events: 4, model: 'scripted', agent: 'main', workspace: '/w' },
  ];
  const first = await collect(store.list());
  expect(first).toMatchObject(expected);
  expect(await collect(store.list())).toEqual(first);
  await store.close();
  for (const damage of [
    () => rmSync(join(dir.path, 'index.db')),
    () => writeFileSync(join(dir.path, 'index.db'), 'x'.repeat(5000)),
  ]) {
    damage();
    const fresh = fileStore({ root: dir.path });
    expect(await collect(fresh.list())).toEqual(first);
    await fresh.close();
  }
});

test('what is no session at all is listed with the reason', async () => {
  using dir = folder();
  const store = fileStore({ root: dir.path });
  expect(await collect(store.list())).toEqual([]);
  mkdirSync(join(dir.path, 'sessions', 'empty'), { recursive: true });
  expect(await collect(store.list())).toMatchObject([
    { id: 'empty', outcome: 'unreadable', problem: expect.stringContaining('it has no header') },
  ]);
  await store.close();
});

test('a lost head.json is read from the first event', async () => {
  using dir = folder();
  const store = fileStore({ root: dir.path });
  await recorded(store, 's');
  writeFileSync(join(dir.path, 'sessions', 's', 'head.json'), '\0\0\0');
  expect((await store.reader('s')).header).toEqual(header('s'));
  expect((await store.verify('s')).problems).toMatchObject([{ kind: 'head' }]);
  await store.close();
});

test('a session that was killed before its head.json was there gets it when it goes on', async () => {
  using dir = folder();
  const store = fileStore({ root: dir.path });
  await recorded(store, 's');
  const head = join(dir.path, 'sessions', 's', 'head.json');
  const written = readFileSync(head, 'utf8');
  rmSync(head);
  await (await store.open('s')).close();
  expect(readFileSync(head, 'utf8')).toBe(written);
  expect(await store.verify('s')).toMatchObject({ ok: true, problems: [] });
  await store.close();
});

test('references: a beginning, @last, @failed; an unknown or ambiguous one says what there is', async () => {
  using dir = folder();
  const store = fileStore({ root: dir.path });
  await expect(store.find('@last')).rejects.toThrow('there is no session yet');
  await recorded(store, 'abcdef', 1);
  await recorded(store, 'abcxyz', 1);
  expect(await store.find('abcd')).toBe('abcdef');
  expect(await store.find('abcxyz')).toBe('abcxyz');
  expect(['abcdef', 'abcxyz']).toContain(await store.find('@last'));
  await expect(store.find('abc')).rejects.toThrow('abc could be abcdef, abcxyz');
  await expect(store.find('abcdeg')).rejects.toThrow('did you mean abcdef?');
  await expect(store.find('@failed')).rejects.toThrow('no session has failed');
  await expect(store.reader('../abcdef')).rejects.toThrow('there is no session');
  await store.close();
});

test('removing refuses while a fork needs it, and collecting frees only what nobody refers to', async () => {
  using dir = folder();
  const store = fileStore({ root: dir.path });
  const writer = await store.create(header('p'));
  new Run(writer).tool({ text: 'shared '.repeat(2000) });
  const { $blob: file } = writer.blob(Buffer.from('file content'));
  const { step } = writer.append('step.started', {
    kind: 'tool',
    name: 'w',
    input: 1,
    digest: '',
    causes: [],
    parent: null,
    agent: 'main',
    turn: 1,
    plugin: null,
  });
  writer.append(
    'step.finished',
    {
      status: 'ok',
      duration_ms: 1,
      attempts: 1,
      effects: [{ kind: 'file', op: 'create', path: 'f', before: null, after: file.sha256 }],
    },
    step,
  );
  await expect(store.remove('p')).rejects.toThrow(`process ${process.pid}`);
  await writer.close();
  const fork = await store.fork('p', 3, header('f'));
  await fork.close();
  const other = await store.create(header('o'));
  new Run(other).tool({ text: 'own '.repeat(4000) });
  await other.close();
  await expect(store.remove('p')).rejects.toThrow('the past of its fork f');
  expect(await store.collect()).toBe(0);
  expect(await store.remove('o')).toBeGreaterThan(500);
  expect(await store.collect()).toBeGreaterThan(10);
  expect(await store.collect()).toBe(0);
  expect((await store.verify('f')).ok).toBe(true);
  expect(Buffer.from((await store.blob(file.sha256)) ?? []).toString()).toBe('file content');
  expect((await collect(store.list())).map(({ id }) => id).sort()).toEqual(['f', 'p']);
  await store.remove('f');
  await store.remove('p');
  expect(await store.collect()).toBeGreaterThan(0);
  expect(await store.blob(file.sha256)).toBeUndefined();
  await store.close();
});

test('a follower in the same or another process gets every line once, across segments', async () => {
  using dir = folder();
  const store = fileStore({ root: dir.path, segmentBytes: 3000 });
  const writer = await store.create(header('s'));
  const end = new AbortController();
  const reader = await fileStore({ root: dir.path }).reader('s');
  const got: number[] = [];
  const following = (async () => {
    for await (const line of reader.lines({ follow: true, signal: end.signal })) {
      got.push(JSON.parse(line).seq);
      if (got.length === 121) end.abort();
    }
  })();
  const run = new Run(writer);
  for (let i = 0; i < 20; i++) {
    run.cycles(1);
    await writer.barrier();
    if (i % 5 === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await following;
  expect(got).toEqual(Array.from({ length: 121 }, (_, i) => i));
  await writer.close();
  await store.close();
});

test('one store goes from session to session and mixes nothing up', async () => {
  using dir = folder();
  const store = fileStore({ root: dir.path });
  const [a, b] = await Promise.all([store.create(header('a')), store.create(header('b'))]);
  for (let i = 0; i < 10; i++) {
    new Run(a).tool({ i });
    new Run(b).model(`b${i}`);
  }
  await Promise.all([a.close(), b.close()]);
  for (const id of ['a', 'b']) {
    const events = await collect((await store.reader(id)).events());
    expect(new Set(events.map(({ session }) => session))).toEqual(new Set([id]));
    expect((await store.verify(id)).ok).toBe(true);
  }
  await expect(store.create(header('a'))).rejects.toMatchObject({ name: 'Conflict' });
  await store.close();
});

test('secrets of the header, too, are not written', async () => {
  using dir = folder();
  const secrets = new Secrets();
  secrets.add('KEY', 'correct-horse');
  const store = fileStore({ root: dir.path, secrets });
  const writer = await store.create(
    header('s', {
      title: 'use correct-horse and {{secret:X}}',
      settings: { url: 'https://x/?k=correct-horse' },
    }),
  );
  await writer.close();
  expect((await store.verify('s')).ok).toBe(true);
  expect((await store.reader('s')).header.title).toBe('use {{secret:KEY}} and {{secret:X}}');
  expect(readFileSync(logOf(dir.path, 's'), 'utf8')).not.toContain('correct-horse');
  await store.close();
});

test('a fork is refused after damage and possible before it', async () => {
  using dir = folder();
  const store = fileStore({ root: dir.path });
  await recorded(store, 's');
  const path = logOf(dir.path, 's');
  const bytes = readFileSync(path);
  const at = bytes.indexOf('call 2');
  bytes[at] = (bytes[at] as number) ^ 4;
  writeFileSync(path, bytes);
  await expect(store.fork('s', 20, header('late'))).rejects.toMatchObject({ name: 'DamagedRecord' });
  await (await store.fork('s', 5, header('early'))).close();
  expect((await store.verify('early')).ok).toBe(true);
  await store.close();
});

/** As if the process that holds the session had died: its number belongs to another one now. */
function leaveDeadLock(root: string, id: string, living: string): void {
  const dead = { ...JSON.parse(living), started: '0', nonce: 'dead' };
  writeFileSync(join(root, 'sessions', id, 'lock'), JSON.stringify(dead));
}

/** Waits until every segment but the newest is sealed. */
async function sealed(root: string, id: string): Promise<void> {
  const names = (): string[] => readdirSync(join(root, 'sessions', id, 'log'));
  await expect.poll(() => names().filter((name) => name.endsWith('.jsonl')).length).toBe(1);
}

test('a listing goes on where a full segment ends and sees no damage', async () => {
  using dir = folder();
  const store = fileStore({ root: dir.path, segmentBytes: 3000 });
  const other = fileStore({ root: dir.path });
  const writer = await store.create(header('s'));
  for (let i = 0; i < 60; i++) {
    writer.append('note.added', { text: `note ${i}`, author: 'me' });
    await writer.barrier();
    await sealed(dir.path, 's');
    // Behind each event: one of the rows ends where the segment does.
    expect((await collect(other.list()))[0]).toMatchObject({ events: i + 2 });
    expect((await collect(other.list()))[0]?.problem).toBeUndefined();
  }
  await writer.close();
  expect(await store.verify('s')).toMatchObject({ ok: true });
  await store.close();
  await other.close();
});

test.each([
  ['open', false],
  ['open', true],
  ['sealed', false],
  ['sealed', true],
])(
  'a listing goes on behind a takeover (old segment %s, written to since: %s) as verify sees it',
  async (state, late) => {
    using dir = folder();
    const store = fileStore({ root: dir.path });
    const path = logOf(dir.path, 's');
    const first = await store.create(header('s'));
    new Run(first).cycles(1);
    await first.barrier();
    const living = readFileSync(join(dir.path, 'sessions', 's', 'lock'), 'utf8');
    await first.close();
    const bytes = readFileSync(path);
    leaveDeadLock(dir.path, 's', living);
    const next = await store.open('s');
    next.append('note.added', { text: 'mine now', author: 'me' });
    await next.barrier();
    await sealed(dir.path, 's');
    // The old holder was only stopped: it writes into its own segment.
    const line = bytes.subarray(bytes.lastIndexOf(10, bytes.length - 2) + 1);
    const old = late ? Buffer.concat([bytes, line]) : bytes;
    writeFileSync(`${path}.zst`, zstdCompressSync(old));
    if (state === 'open') {
      writeFileSync(path, old);
      rmSync(`${path}.zst`);
    }
    const { problems } = await store.verify('s');
    expect(problems).toMatchObject(late ? [{ kind: 'stale', offset: bytes.length }] : []);
    const [problem] = problems;
    expect((await collect(store.list()))[0]?.problem).toBe(problem && describeProblem(problem));
    await next.close();
    await store.close();
  },
);

/** A session of 24 events in two turns, and its log as lines. */
async function twoTurns(store: Store, root: string): Promise<string[]> {
  const writer = await store.create(header('s'));
  const run = new Run(writer);
  run.begin();
  run.cycles(2).end();
  writer.append('input.received', { turn: 2, content: 'and now?' });
  run.cycles(1);
  writer.append('session.ended', { outcome: 'ok', turn: 2, answer: '43' });
  await writer.close();
  return readFileSync(logOf(root, 's'), 'utf8').trimEnd().split('\n');
}

test('lost lines are problems of the view, and every step whose events are whole is still in it', async () => {
  using dir = folder();
  const store = fileStore({ root: dir.path });
  const lines = await twoTurns(store, dir.path);
  const whole = await (await store.reader('s')).view();
  expect(whole.problems).toEqual([]);
  const view = async (kept: readonly string[]) => {
    writeFileSync(logOf(dir.path, 's'), kept.map((line) => `${line}\n`).join(''));
    const damaged = await (await store.reader('s')).view();
    const { problems } = await store.verify('s');
    expect(damaged.problems).toEqual(problems);
    return damaged;
  };
  // The beginning: header and the input of the first turn.
  const headless = await view(lines.slice(2));
  expect(headless.problems).toMatchObject([
    { kind: 'gap', message: 'events 0 to 1 are missing before it', offset: 0, length: lines[2]?.length },
  ]);
  expect(headless.header).toEqual(whole.header);
  expect(headless.steps).toEqual(whole.steps);
  expect(headless.turns).toEqual([{ ...whole.turns[0], input: '', lost: true }, whole.turns[1]]);
  // Half of the log, from its middle: what is left of lost steps stands there as lost, the others are whole.
  const started = lines.findIndex((line) => line.includes('"type":"step.started","step":3'));
  const holed = await view([...lines.slice(0, 3), ...lines.slice(started)]);
  expect(holed.problems).toMatchObject([{ kind: 'gap', seq: 3 }]);
  expect(holed.steps.map(({ number, lost, status }) => [number, lost ?? false, status])).toEqual([
    [1, false, 'started'],
    [2, true, 'unknown'],
    ...whole.steps.slice(2).map(({ number, status }) => [number, false, status]),
  ]);
  expect(holed.steps.slice(2)).toEqual(whole.steps.slice(2));
  expect(holed.turns).toEqual(whole.turns);
  expect(holed.request(3)).toEqual(whole.request(3));
  // A whole turn: the next one stands at its place all the same.
  const second = lines.findIndex(
    (line) => line.includes('"type":"input.received"') && line.includes('"turn":2'),
  );
  const turnless = await view([lines[0] as string, ...lines.slice(second, second + 1)]);
  expect(turnless.turns).toMatchObject([
    { number: 1, input: '', lost: true },
    { number: 2, input: 'and now?' },
  ]);
  // The start of a model step: what later requests share with it is named as missing.
  const first = lines.findIndex((line) => line.includes('"type":"step.started","step":1'));
  const beheaded = await view(lines.filter((_, i) => i !== first));
  expect(beheaded.step(1)).toMatchObject({ lost: true, status: 'ok', output: { content: 'call 1' } });
  expect(beheaded.request(3).missing).toEqual(['messages: the request of step 1 is not on record']);
  expect(beheaded.request(3).messages).toEqual(whole.request(3).messages.slice(-2));
  // Cut, and emptied; a listing remembers how far it reached.
  const cut = await view(lines.slice(0, 12));
  const end = Buffer.byteLength(`${lines.slice(0, 12).join('\n')}\n`);
  const file = `${'0'.repeat(20)}.jsonl`;
  expect(cut.problems).toMatchObject([{ kind: 'truncated', seq: 12, file, offset: end }]);
  expect((await collect(store.list()))[0]?.problem).toBe(describeProblem(cut.problems[0] as Problem));
  expect((await view([])).problems).toMatchObject([{ kind: 'truncated', seq: 0 }]);
  rmSync(join(dir.path, 'index.db'));
  const again = fileStore({ root: dir.path });
  expect((await (await again.reader('s')).view()).problems).toMatchObject([{ kind: 'empty', seq: 0 }]);
  expect(await again.verify('s')).toMatchObject({ ok: false, problems: [{ kind: 'empty' }] });
  await again.close();
  await store.close();
});

test('a listing takes no old damage for granted', async () => {
  using dir = folder();
  const store = fileStore({ root: dir.path });
  await recorded(store, 's');
  const bytes = readFileSync(logOf(dir.path, 's'));
  for (const damaged of [
    Buffer.alloc(0),
    bytes.subarray(0, bytes.indexOf(10) + 1),
    bytes.subarray(bytes.indexOf(10) + 1),
  ]) {
    writeFileSync(logOf(dir.path, 's'), damaged);
    expect((await collect(store.list()))[0]).toHaveProperty('problem');
    writeFileSync(logOf(dir.path, 's'), bytes);
    expect((await collect(store.list()))[0]).not.toHaveProperty('problem');
  }
  await store.close();
});

test('up to an event before the damage a view is whole', async () => {
  using dir = folder();
  const store = fileStore({ root: dir.path });
  const lines = await twoTurns(store, dir.path);
  writeFileSync(logOf(dir.path, 's'), `${lines.slice(0, 12).join('\n')}\n`);
  const reader = await store.reader('s');
  expect((await reader.view(11)).problems).toEqual([]);
  expect((await reader.view(12)).problems).toMatchObject([{ kind: 'truncated' }]);
  await store.close();
});

test('lost values are named, stand there as references, and everything around them can be looked at', async () => {
  using dir = folder();
  const store = fileStore({ root: dir.path });
  const writer = await store.create(header('s'));
  const long = (text: string): string => text.repeat(9000);
  const run = new Run(writer);
  const tools = writer.blob(TOOLS);
  writer.append('input.received', { turn: 1, content: long('in'), tools });
  run.model('short');
  run.tool({ text: long('a') });
  run.messages.push({ role: 'user', content: long('b') });
  run.model(long('c'));
  await writer.close();
  const whole = await (await store.reader('s')).view();
  const references = readFileSync(logOf(dir.path, 's'), 'utf8').match(/[0-9a-f]{64}(?=","bytes")/g) ?? [];
  const blobs = [...new Set(references)];
  expect(blobs.length).toBeGreaterThan(4);
  const path = (sha: string): string => join(dir.path, 'blobs', sha.slice(0, 2), `${sha}.zst`);
  const fresh = async () => (await fileStore({ root: dir.path }).reader('s')).view();
  const look = (view: SessionView) =>
    JSON.stringify([view.turns, view.steps, view.request(1), view.request(3)]);
  for (const sha of blobs) {
    const bytes = readFileSync(path(sha));
    rmSync(path(sha));
    const missing = await fresh();
    expect(missing.problems).toMatchObject([{ kind: 'blob-missing', file: path(sha) }]);
    expect(look(missing)).toContain(sha);
    for (const message of [...missing.request(1).messages, ...missing.request(3).messages])
      expect(message.content).toBeTypeOf('string');
    writeFileSync(path(sha), 'no such thing');
    const damaged = await fresh();
    expect(look(damaged)).toContain(sha);
    expect(damaged.problems).toMatchObject([{ kind: 'blob-damaged', file: path(sha) }]);
    writeFileSync(path(sha), bytes);
  }
  // The catalogue of tools is not "no tools".
  rmSync(path(tools.$blob.sha256));
  const bare = await fresh();
  expect(bare.turns[0]).toMatchObject({ number: 1, lost: true });
  expect(bare.turns[0]?.tools).toBeUndefined();
  expect(bare.request(1)).toMatchObject({
    messages: whole.request(1).messages,
    tools: [],
    missing: [expect.stringContaining(`the tools that were offered: blob ${tools.$blob.sha256}`)],
  });
  await store.close();
});

test('user data that looks like a reference is no lost value', async () => {
  using dir = folder();
  const store = fileStore({ root: dir.path });
  const writer = await store.create(header('s'));
  const likeness = { $blob: { sha256: 'a'.repeat(64), bytes: 3, media_type: 'text/plain' } };
  const run = new Run(writer);
  run.begin();
  run.tool(likeness);
  run.tool({ ...likeness, beside: 1 });
  await writer.close();
  const view = await (await store.reader('s')).view();
  expect(view.step(1)?.output).toEqual(likeness);
  expect(lostBlobIn(view.step(1)?.output)).toBeUndefined();
  expect(view.problems).toEqual([]);
  await store.close();
});

test('a store that may only be read is looked at without its index, or with the one that is there', async () => {
  using dir = folder();
  const root = join(dir.path, '.chassis');
  const store = fileStore({ root });
  await recorded(store, 's');
  await collect(store.list());
  const lines = readFileSync(logOf(root, 's'), 'utf8').trimEnd().split('\n');
  await store.close();
  // Cut since the index was written: only the index can tell.
  writeFileSync(logOf(root, 's'), `${lines.slice(0, 10).join('\n')}\n`);
  const script = `
    import { fileStore } from ${JSON.stringify(join(import.meta.dirname, '../index.ts'))};
    import { accessSync, constants } from 'node:fs';
    const root = ${JSON.stringify(root)};
    let writable = true;
    try { accessSync(root, constants.W_OK); } catch { writable = false; }
    const store = fileStore({ root });
    const sessions = await Array.fromAsync(store.list());
    const id = await store.find('s');
    const reader = await store.reader(id);
    const lines = await Array.fromAsync(reader.lines());
    const { problems } = await reader.view();
    const verified = await store.verify(id);
    await store.close();
    console.log(JSON.stringify({ writable, sessions, lines: lines.length, problems, verified }));`;
  const look = () => {
    // Whoever may do everything must become somebody who may not.
    const nobody = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};
    const ran = spawnSync(process.execPath, ['--input-type=module-typescript', '-e', script], {
      ...nobody,
      cwd: '/',
      encoding: 'utf8',
    });
    expect(ran.stderr).toBe('');
    return JSON.parse(ran.stdout);
  };
  chmodSync(dir.path, 0o755);
  const closed = () => {
    for (const entry of readdirSync(root, { recursive: true, withFileTypes: true }))
      chmodSync(join(entry.parentPath, entry.name), entry.isDirectory() ? 0o555 : 0o444);
    chmodSync(root, 0o555);
  };
  closed();
  const truncated = { kind: 'truncated', seq: 10 };
  expect(look()).toMatchObject({
    writable: false,
    sessions: [{ id: 's', problem: expect.stringContaining('missing at the end') }],
    lines: 10,
    problems: [truncated],
    verified: { ok: false, problems: [truncated] },
  });
  chmodSync(root, 0o755);
  for (const name of ['index.db', 'index.db-journal']) rmSync(join(root, name));
  closed();
  const without = look();
  expect(without).toMatchObject({ writable: false, lines: 10, problems: [], verified: { ok: true } });
  expect(without.sessions[0]).not.toHaveProperty('problem');
  expect(readdirSync(root).sort()).toEqual(['.gitignore', 'blobs', 'sessions']);
  chmodSync(root, 0o755);
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true }))
    if (entry.isDirectory()) chmodSync(join(entry.parentPath, entry.name), 0o755);
});
