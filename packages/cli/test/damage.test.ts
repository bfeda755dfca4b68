/** What commands say about a record that is not whole: never that all is well, and never that the agent is to blame. */
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chassis, type Ended, records, type TempFolder, tempFolder } from './support/chassis.ts';

const example = fileURLToPath(new URL('../../../examples/incident', import.meta.url));
let folder: TempFolder;
let id: string;
let log: string;
let whole: Buffer;

const run = (...args: string[]): Promise<Ended> => chassis(args, { cwd: folder.path });

beforeAll(async () => {
  folder = tempFolder();
  cpSync(example, folder.path, { recursive: true });
  const ended = await run('run', 'Report the average order value of the three days.', '--trust', '--json');
  id = String(records(ended.stdout).at(-1)?.session);
  log = join(folder.path, '.chassis', 'sessions', id, 'log', `${'0'.repeat(20)}.jsonl`);
  whole = readFileSync(log);
});
afterAll(() => folder[Symbol.dispose]());

const lines = (): string[] => whole.toString('utf8').trimEnd().split('\n');
const flipped = (): Buffer => {
  const bytes = Buffer.from(whole);
  const at = bytes.indexOf('"type":"step.started","step":2') + 3;
  bytes[at] = (bytes[at] as number) ^ 1;
  return bytes;
};

describe.each([
  [
    'its first lines lost',
    () => Buffer.from(`${lines().slice(2).join('\n')}\n`),
    /events 0 to 1 are missing/,
  ],
  [
    'half of its lines lost',
    () =>
      Buffer.from(
        `${lines()
          .filter((_, i) => i < 6 || i > 18)
          .join('\n')}\n`,
      ),
    /events 6 to 18 are missing/,
  ],
  ['its end lost', () => Buffer.from(`${lines().slice(0, 12).join('\n')}\n`), /missing at the end/],
  ['nothing left', () => Buffer.alloc(0), /missing at the end/],
  ['a flipped bit', flipped, /byte \d+, \d+ bytes/],
] as const)('a record with %s', (_name, damaged, what) => {
  it('is refused by replay, and said to be damaged by show and why', async () => {
    writeFileSync(log, damaged());
    try {
      const replayed = await run('replay', id);
      expect(replayed.code).toBe(1);
      expect(replayed.stderr).toMatch(/^chassis: the record is damaged: /);
      expect(replayed.stderr).toMatch(what);
      expect(replayed.stderr).toContain(`chassis verify ${id}`);
      expect(replayed.stdout).not.toContain('no difference');
      for (const command of ['show', 'why']) {
        const said = await run(command, id);
        expect(said.stderr).toBe('');
        expect(said.stdout.split('\n')[0]).toMatch(what);
        expect(said.stdout.split('\n')[0]).toContain(`chassis verify ${id}`);
        expect(said.stdout).not.toContain('✓');
      }
    } finally {
      writeFileSync(log, whole);
    }
  });
});

it('a step of a record with no step left is not said to be one that is still to come', async () => {
  writeFileSync(log, '');
  const said = await run('show', `${id}:1`);
  writeFileSync(log, whole);
  expect(said.code).toBe(2);
  expect(said.stderr).toContain('the record is damaged');
});

describe('a record that lacks values', () => {
  it('shows the rest, says which is missing, and is no measure for a replay', async () => {
    const blobs = join(folder.path, '.chassis', 'blobs');
    const kept = join(folder.path, 'kept');
    cpSync(blobs, kept, { recursive: true });
    const names = readdirSync(blobs, { recursive: true, encoding: 'utf8' }).filter((name) =>
      name.endsWith('.zst'),
    );
    expect(names.length).toBeGreaterThan(0);
    for (const spoil of [
      (path: string) => rmSync(path),
      (path: string) => writeFileSync(path, 'nothing of the kind'),
    ]) {
      for (const name of names) spoil(join(blobs, name));
      const shown = await run('show', id);
      expect(shown).toMatchObject({ code: 0, stderr: '' });
      expect(shown.stdout).toMatch(/^✗ the record is damaged: .*blob [0-9a-f]{64}/);
      expect(shown.stdout).toContain('fetch_orders');
      const step = await run('show', `${id}:1`);
      expect(step.code).toBe(0);
      expect(step.stdout).not.toContain('tools: none');
      expect(step.stdout).toContain('not on record: the tools that were offered: blob');
      const replayed = await run('replay', id);
      expect(replayed.code).toBe(1);
      expect(replayed.stderr).toMatch(/^chassis: the record is damaged: .*blob [0-9a-f]{64}/);
      expect((await run('why', id)).stdout).toContain('fetch_orders');
      mkdirSync(blobs, { recursive: true });
      cpSync(kept, blobs, { recursive: true });
    }
    expect((await run('replay', id)).code).toBe(0);
  });
});

describe('chassis repair', () => {
  it('says what it would do, does it when asked, and takes from a bundle what is missing', async () => {
    const bundle = join(folder.path, 'whole.session.jsonl');
    await run('export', id, '-o', bundle);
    writeFileSync(log, flipped());
    const planned = await run('repair', id);
    expect(planned.code).toBe(1);
    expect(planned.stdout).toContain('what a repair would do, tried on a copy\n  mended: a line put right');
    expect(planned.stderr).toContain(`next: chassis repair ${id} --apply`);
    expect(readFileSync(log)).toEqual(flipped());
    const shown = await run('log', id);
    expect(shown.stdout).toMatch(
      /✗ {2}\w+: its bytes do not match its hash|✗ {2}parse: this is no whole event/,
    );
    expect(shown.stderr).toContain(`chassis verify ${id}`);
    const done = await run('repair', id, '--apply');
    expect(done.code).toBe(0);
    expect(readFileSync(log).subarray(0, whole.length)).toEqual(whole);
    expect((await run('verify', id)).code).toBe(0);
    expect((await run('repair', id)).stdout).toContain('needs no repair');
    // Lines that are gone altogether.
    const now = readFileSync(log, 'utf8').trimEnd().split('\n');
    writeFileSync(log, `${now.filter((_, i) => i < 6 || i > 18).join('\n')}\n`);
    const json = await run('repair', id, '--from', bundle, '--json');
    expect(records(json.stdout).at(-1)).toMatchObject({
      applied: false,
      actions: [{ kind: 'restored', seq: 6 }],
    });
    expect((await run('repair', id, '--from', bundle, '--apply')).code).toBe(0);
    expect(readFileSync(log, 'utf8').startsWith(`${now.join('\n')}\n`)).toBe(true);
    // Gone for good: on record from then on, and said.
    writeFileSync(log, `${now.filter((_, i) => i < 6 || i > 8).join('\n')}\n`);
    expect((await run('repair', id, '--apply')).code).toBe(0);
    const verified = await run('verify', id);
    expect(verified.code).toBe(0);
    expect(verified.stdout).toContain('lost, on record: gap: events 6 to 8 are missing before it');
    expect((await run('show', id)).stdout.split('\n')[0]).toMatch(/the record is damaged: events 6 to 8/);
  });
});
