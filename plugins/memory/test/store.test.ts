import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Entries, openEntries, sqlite } from '../src/store.ts';
import { expression } from '../src/words.ts';

let folder = '';
let entries: Entries;
const file = (): string => join(folder, 'store/memory/m.sqlite');

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'chassis-memory-'));
  entries = openEntries(await sqlite(), file());
});
afterEach(() => {
  entries.close();
  rmSync(folder, { recursive: true, force: true });
});

let now = 0;
const put = (key: string, text: string, tags: string[] = []): void =>
  entries.put({ key, text, tags, now: ++now, session: 's', step: 1 });
const keys = (query: string, limit = 10): string[] => entries.search(query, limit).map(({ key }) => key);

describe('a memory', () => {
  test('finds entries by their words, the best first, and by their tags', () => {
    put('a', 'The order service runs on port 8080.');
    put('b', 'Deploy the order service with make ship; the order matters.');
    put('c', 'Cats sleep.', ['animal', 'order']);
    expect(keys('order service').slice(0, 2).sort()).toEqual(['a', 'b']);
    expect(keys('animal')).toEqual(['c']);
    expect(keys('Ordering')).toEqual([]);
    expect(keys('ord', 2)).toHaveLength(2);
    expect(keys('nothing of this')).toEqual([]);
  });

  test('replaces an entry of the same key, in the index too', () => {
    put('k', 'the old words');
    put('k', 'something new');
    expect(keys('old')).toEqual([]);
    expect(entries.search('new', 5)).toMatchObject([{ key: 'k', text: 'something new', tags: [] }]);
  });

  test('finds Chinese, Japanese and Korean words inside of a sentence', () => {
    put('zh', '订单服务运行在 8080 端口');
    put('ja', '注文サービスはポートで動く');
    put('ko', '주문 서비스');
    expect(keys('服务')).toEqual(['zh']);
    expect(keys('务服')).toEqual([]);
    expect(keys('サービス')).toEqual(['ja']);
    expect(keys('주문')).toEqual(['ko']);
  });

  test('ignores case and accents', () => {
    put('a', 'Über Ängste, ÉTÉ');
    expect(keys('uber')).toEqual(['a']);
    expect(keys('été')).toEqual(['a']);
  });

  test('whatever is asked is words, never the language of the index', () => {
    put('a', 'plain');
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (query) => void entries.search(query, 5)));
    for (const query of ['"', 'a AND', 'NEAR(', 'text:', '*', '^a', '(', 'a OR OR b', "'; DROP TABLE words"])
      expect(() => entries.search(query, 5)).not.toThrow();
    expect(expression('!?')).toBeUndefined();
  });

  test('what was put is found again, whatever its words are', () => {
    const word = fc.stringMatching(/^[\p{L}\p{N}]{1,12}$/u);
    fc.assert(
      fc.property(fc.array(word, { minLength: 1, maxLength: 8 }), (list) => {
        put('p', list.join(' '));
        for (const one of list) if (expression(one) !== undefined) expect(keys(one)).toContain('p');
      }),
      { numRuns: 50 },
    );
  });

  test('keeps what it has over a restart, in a file of its owner, which git leaves alone', async () => {
    put('a', 'kept');
    entries.close();
    entries = openEntries(await sqlite(), file());
    expect(keys('kept')).toEqual(['a']);
    expect(statSync(join(folder, 'store/memory')).mode & 0o777).toBe(0o700);
    expect(readFileSync(join(folder, 'store/memory/.gitignore'), 'utf8')).toBe('*\n');
  });

  test('takes two writers at the same file', async () => {
    const other = openEntries(await sqlite(), file());
    put('a', 'from one');
    other.put({ key: 'b', text: 'from another', tags: [], now: 1, session: 's', step: 1 });
    expect(keys('from').sort()).toEqual(['a', 'b']);
    other.close();
  });

  test('refuses a file of another kind and never writes to it', async () => {
    const foreign = join(folder, 'foreign.sqlite');
    const database = new DatabaseSync(foreign);
    database.exec('CREATE TABLE mine (a)');
    database.close();
    const before = readFileSync(foreign);
    const module = await sqlite();
    expect(() => openEntries(module, foreign)).toThrow('was to be a memory, but it is none');
    expect(readFileSync(foreign).equals(before)).toBe(true);
    writeFileSync(join(folder, 'text'), 'no database at all, only a text that is long enough');
    expect(() => openEntries(module, join(folder, 'text'))).toThrow('cannot be opened');
  });
});
