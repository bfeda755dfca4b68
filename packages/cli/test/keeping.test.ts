/** Verbs that check, move and search what is on record: what they say to what does not fit. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chassis, type Ended, records } from './support/chassis.ts';
import { type Project, project, says } from './support/project.ts';

let folder: Project;
let id: string;
let live: Record<string, unknown>[];

const run = (...args: string[]): Promise<Ended> => chassis(args, { cwd: folder.path });

beforeAll(async () => {
  folder = project(says('The parcel is late.'));
  live = records((await run('run', 'Where is it?', '--trust', '--json')).stdout);
  id = String(live.at(-1)?.session);
  await run('export', id, '-o', 'a.session.jsonl');
});
afterAll(() => folder[Symbol.dispose]());

it('run --json tells every event of the record, the first one too', () => {
  const log = join(folder.path, '.chassis', 'sessions', id, 'log', `${'0'.repeat(20)}.jsonl`);
  const recorded = readFileSync(log, 'utf8').trimEnd().split('\n');
  const told = live.filter(({ type }) => type === 'event').map(({ event }) => (event as { seq: number }).seq);
  expect(told).toEqual(recorded.map((_, seq) => seq));
});

it('a note is found with the step that it is about; a search without a word is refused', async () => {
  await run('note', `${id}:1`, 'misleading wording');
  const [hit] = records((await run('search', 'misleading', '--json')).stdout);
  expect(hit).toMatchObject({ type: 'hit', address: `${id}:1`, kind: 'note', step: 1 });
  for (const text of ['', '  ', '"" -']) {
    const said = await run('search', text);
    expect(said).toMatchObject({ code: 2, stdout: '' });
    expect(said.stderr).toContain('a search needs a word');
  }
});

it('a bundle that is taken in again is said to be there', async () => {
  const first = await run('import', 'a.session.jsonl', '--store', 'other');
  expect(first).toMatchObject({ code: 0, stdout: `${id}\n` });
  const again = await run('import', 'a.session.jsonl', '--store', 'other');
  expect(again).toMatchObject({ code: 0, stdout: `${id}\n` });
  expect(again.stderr).toContain(`${id} is here already; nothing was changed`);
  const json = await run('import', 'a.session.jsonl', '--store', 'other', '--json');
  expect(records(json.stdout).at(-1)).toMatchObject({ ok: true, session: id, fresh: false });
});

it("another tool's chats are taken in, by the importer inside or by one that is named", async () => {
  const messages = [
    { role: 'user', content: 'Capital of France?' },
    { role: 'assistant', content: 'Paris.' },
  ];
  folder.write('chats.jsonl', `${JSON.stringify({ messages })}\n${JSON.stringify({ messages, n: 2 })}\n`);
  const taken = await run('import', 'chats.jsonl', '--json');
  const { sessions } = records(taken.stdout).at(-1) as { sessions: string[] };
  expect(sessions).toHaveLength(2);
  expect((await run('verify', sessions[0] as string)).code).toBe(0);
  expect((await run('show', `${sessions[1]}:1`)).stdout).toContain('Paris.');
  expect((await run('import', 'chats.jsonl')).stderr).toContain('is here already');
  folder.write(
    'mine.mjs',
    `export default {
      name: 'mine',
      accepts: (line) => line.startsWith('# mine'),
      async *read(lines, store) {
        const writer = await store.create({ format: 'chassis.session', v: 1, id: 'mine-1', created: 1, chassis: '', title: 'mine',
          workspace: '/', project: '/', agent: { name: 'm', version: '1.0.0', digest: '', agent: 'm' },
          model: { name: 'm', fallbacks: [], params: {} }, plugins: [], settings: {} });
        for await (const line of lines) writer.append('input.received', { turn: 1, content: line });
        await writer.close();
        yield writer.id;
      },
    };`,
  );
  folder.write('log.txt', '# mine\n');
  expect(await run('import', 'log.txt', '--with', 'mine.mjs')).toMatchObject({ code: 0, stdout: 'mine-1\n' });
  const wrong = await run('import', 'log.txt', '--with', 'nothing.mjs');
  expect(wrong.code).toBe(2);
  expect(wrong.stderr).toContain('--with nothing.mjs cannot be loaded');
});

it('what is not there or does not fit is said with its name and what to do, not in the words of the system', async () => {
  folder.write('no.jsonl', '{"a":1}\n');
  folder.write(
    'cut.session.jsonl',
    readFileSync(join(folder.path, 'a.session.jsonl'), 'utf8').slice(0, -200),
  );
  writeFileSync(join(folder.path, 'empty.session.jsonl'), '');
  mkdirSync(join(folder.path, 'folder.session.jsonl'));
  for (const [args, code, text] of [
    [['import', 'no.jsonl'], 2, /no\.jsonl: line 1 .* \(a bundle is a file that chassis export wrote\)/],
    [['import', 'empty.session.jsonl'], 2, /empty\.session\.jsonl: the bundle is empty/],
    [['import', 'cut.session.jsonl'], 1, /cut\.session\.jsonl: line \d+ of the bundle: /],
    [['show', 'cut.session.jsonl'], 1, /cut\.session\.jsonl: line \d+ of the bundle: /],
    [['import', 'folder.session.jsonl'], 2, /is a folder/],
    [['verify', 'folder.session.jsonl'], 2, /is a folder/],
    [['export', id, '-o', 'nowhere/a.jsonl'], 2, /--output nowhere\/a\.jsonl: there is no folder/],
    [['export', id, '-o', '.', '--force'], 2, /--output \.: this is a folder/],
    [['export', id, '--sign', 'no.pem', '-o', 'b.jsonl'], 2, /--sign .*no\.pem: there is no such file/],
    [['verify', 'a.session.jsonl', '--key', 'no.pem'], 2, /--key .*no\.pem: there is no such file/],
    [['repair', id, '--from', 'no-file'], 2, /there is no file .*no-file/],
  ] as const) {
    const said = await run(...args);
    expect(said.stderr, args.join(' ')).toMatch(text);
    expect(said.stderr, args.join(' ')).not.toMatch(/E[A-Z]{4,}:/);
    expect(said.code, args.join(' ')).toBe(code);
  }
});

it('a repair from a bundle that has more says so, and not that nothing is a problem', async () => {
  await run('import', 'a.session.jsonl', '--store', 'shorter');
  await run('note', id, 'one more');
  await run('export', id, '-o', 'long.session.jsonl');
  const said = await run('repair', id, '--from', 'long.session.jsonl', '--store', 'shorter');
  expect(said.stdout).not.toContain('0 problems');
  expect(said.stdout).toContain('is whole; the bundle has more of it');
});
