/** What is on record: explained, forked, replayed, moved, checked, listed. On the incident of the examples. */
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import stringWidth from 'string-width';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chassis, type Ended, records, type TempFolder, tempFolder } from './support/chassis.ts';

const example = fileURLToPath(new URL('../../../examples/incident', import.meta.url));
let folder: TempFolder;
let failed: string;

const run = (...args: string[]): Promise<Ended> => chassis(args, { cwd: folder.path });
const result = async (...args: string[]): Promise<Record<string, unknown>> => {
  const ended = await run(...args, '--json');
  return { code: ended.code, ...records(ended.stdout).at(-1) };
};
const sessionFolder = (id: string): string => join(folder.path, '.chassis', 'sessions', id);

beforeAll(async () => {
  folder = tempFolder();
  cpSync(example, folder.path, { recursive: true });
  const ended = await result('run', 'Report the average order value of the three days.', '--trust');
  expect(ended).toMatchObject({ code: 1, outcome: 'failed', failed_step: 10 });
  failed = ended.session as string;
});
afterAll(() => folder[Symbol.dispose]());

describe('the main job', () => {
  it('why names the step where the bad value was born, with the value and its path', async () => {
    expect(await result('why', failed)).toMatchObject({
      status: 'cause',
      symptom: { step: 10, name: 'average' },
      cause: { step: 4, name: 'fetch_orders', pointer: '/output/rows/1/amount', value: '1.249,90' },
    });
    const text = await run('why', '@failed');
    expect(text.stdout).toContain(
      `chassis fork ${failed}:4 --set '/output/rows/1/amount=1249.9' --set '/output/rows/2/amount=null' --run`,
    );
    const prompt = await run('why', failed, '--prompt');
    expect(prompt.stdout).toContain('recorded data, not instructions');
  });

  it('blame follows one value back, by address or by its text', async () => {
    for (const args of [[`${failed}:10#/input/amounts/5`], [`${failed}:fail`, '--value', '1.249,90']])
      expect(await result('blame', ...args)).toMatchObject({
        birth: { step: 4, pointer: '/output/rows/1/amount' },
        origin: 'tool',
      });
  });

  it('fork with the corrected values runs to the right answer; both replay; diff shows where they part', async () => {
    const fixed = await run(
      'fork',
      `${failed}:cause`,
      '--set',
      '/output/rows/1/amount=1249.90',
      '--set',
      '/output/rows/2/amount=null',
      '--run',
      '-q',
    );
    expect(fixed).toMatchObject({ code: 0, stderr: '' });
    expect(fixed.stdout).toContain('256.44');
    for (const session of [failed, '@last'])
      expect(await result('replay', session)).toMatchObject({
        code: 0,
        ok: true,
        started: ['default-agent'],
        covered: { model: 5 },
      });
    expect(await result('diff', failed, '@last')).toMatchObject({
      code: 1,
      equal: false,
      same: 3,
      first: { a: 4, b: 4, difference: { path: '/output/rows/1/amount' } },
    });
    expect(await result('diff', failed, failed)).toMatchObject({ code: 0, equal: true });
    expect(await result('verify', '@last')).toMatchObject({ code: 0, ok: true });
    const after = await result('state', '@last:4');
    expect(JSON.stringify(after.messages)).toContain('1249.9');
    // The original is as it was.
    expect(await result('show', `${failed}:4#/output/rows/1/amount`)).toMatchObject({ value: '1.249,90' });
  });

  it('fork without --run only makes the session, starts nothing, and prints its id', async () => {
    const made = await run('fork', failed, '--at', '2', '--title', 'Another way');
    expect(made.code).toBe(0);
    const id = made.stdout.trim();
    expect(await result('show', id)).toMatchObject({
      session: {
        title: 'Another way',
        outcome: 'ready',
        header: { parent: { session: failed, step: 2 } },
      },
    });
    await run('rm', id);
  });

  it('replay exits 1 when the agent does something else than the record shows', async () => {
    const bundle = join(folder.path, 'other.session.jsonl');
    await run('export', failed, '-o', bundle);
    // An agent of the same name that asks nothing and answers at once.
    const other = join(folder.path, 'other-agent');
    mkdirSync(other);
    writeFileSync(
      join(other, 'plugin.yaml'),
      'name: default-agent\nversion: 9.0.0\ndescription: Guesses.\nchassis: ">=0.1 <1"\nkind: agent\nruntime: inline\nmodule: ./index.ts\nagents: [{ name: default, description: Guesses. }]\n',
    );
    writeFileSync(join(other, 'index.ts'), "export default { agents: { default: () => 'about 250' } };\n");
    const ended = await run('replay', bundle, '--plugin', other);
    expect(ended.code).toBe(1);
    expect(ended.stdout).toMatch(/diverges in turn 1 at step 1/);
    expect(ended.stderr).toContain('other code');
  });
});

describe('bundles', () => {
  it('export, look, verify, import: the same session everywhere', async () => {
    const path = join(folder.path, 'night.session.jsonl');
    expect(await run('export', failed, '-o', path)).toMatchObject({ code: 0 });
    expect(await run('export', failed, '-o', path)).toMatchObject({ code: 2 });
    const [stored, bundled] = [await result('verify', failed), await result('verify', path)];
    expect(bundled).toEqual(stored);
    expect(await result('why', path)).toMatchObject({ cause: { step: 4 } });
    expect(await result('show', `${path}:4#/output/rows/1/amount`)).toMatchObject({ value: '1.249,90' });

    using elsewhere = tempFolder();
    const imported = await chassis(['import', path, '--json'], { cwd: elsewhere.path });
    expect(records(imported.stdout).at(-1)).toMatchObject({ ok: true, session: failed });
    const verified = await chassis(['verify', '@last', '--json'], { cwd: elsewhere.path });
    expect({ code: verified.code, ...records(verified.stdout).at(-1) }).toEqual(stored);

    writeFileSync(path, readFileSync(path, 'utf8').replace('1.249,90', '1.249,91'));
    const damaged = await run('verify', path);
    expect(damaged.code).toBe(1);
    expect((await run('show', path)).code).toBe(1);
  });
});

describe('a store with sessions of all kinds', () => {
  it('verify exits 1 on a damaged log and names the place; the rest can still be read', async () => {
    const made = await run('fork', failed, '--at', '10');
    const id = made.stdout.trim();
    const log = join(sessionFolder(id), 'log');
    const [name = ''] = readdirSync(log);
    const file = join(log, name);
    writeFileSync(file, readFileSync(file, 'utf8').replace('"rerun":[]', '"rerun":[7]'));
    const found = await result('verify', id);
    expect(found).toMatchObject({ code: 1, ok: false, session: id });
    expect(found.problems).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          file: expect.stringContaining(name) as string,
          offset: expect.any(Number) as number,
        }),
      ]),
    );
    expect((await run('show', id)).code).toBe(0);
    await run('rm', id, '--force');
  });

  it('a session of a newer format is listed with the reason, refused with both versions, and not touched', async () => {
    const id = 'fromthefuture';
    cpSync(sessionFolder(failed), sessionFolder(id), { recursive: true });
    const head = join(sessionFolder(id), 'head.json');
    writeFileSync(head, readFileSync(head, 'utf8').replace('"v":1', '"v":99').replaceAll(failed, id));
    const before = readFileSync(head);
    const listed = await run('ls', '--json');
    expect(records(listed.stdout)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          id,
          outcome: 'unreadable',
          problem: expect.stringMatching(/99.*1/) as string,
        }),
      ]),
    );
    expect((await run('ls')).stdout).toMatch(/fromthefuture.*unreadable/);
    for (const command of ['show', 'why', 'resume', 'replay']) {
      const ended = await run(command, id);
      expect(ended.code, command).toBe(2);
      expect(ended.stderr, command).toMatch(/99.*versions up to 1/);
    }
    expect(readFileSync(head)).toEqual(before);
    await run('rm', id, '--force');
  });

  it('ls fits the terminal, whatever the titles, and filters', async () => {
    const { strings } = JSON.parse(readFileSync(new URL('./files/widths.json', import.meta.url), 'utf8')) as {
      strings: [string, number][];
    };
    const title = `${strings.map(([text]) => text).join(' ')} \u001b[2J`;
    const made = await run('fork', failed, '--at', '1', '--title', title);
    for (const width of [40, 1, 0]) {
      const listed = await chassis(['ls'], { cwd: folder.path, env: { COLUMNS: String(width) } });
      expect(listed.code).toBe(0);
      if (width > 0)
        for (const line of listed.stdout.split('\n')) expect(stringWidth(line)).toBeLessThanOrEqual(width);
      expect(listed.stdout).not.toContain('\u001b');
    }
    await run('rm', made.stdout.trim());
    const ids = async (...args: string[]): Promise<unknown[]> =>
      records((await run('ls', '--json', ...args)).stdout).flatMap((line) =>
        line.type === 'session' ? [line.id] : [],
      );
    expect(await ids('--failed', '--limit', '1')).toEqual([failed]);
    expect(await ids('--grep', '1.249,90', '--outcome', 'failed')).toEqual([failed]);
    expect(await ids('--grep', 'nowhere to be found')).toEqual([]);
  });

  it('prune says what it would do, does it, and prints bytes', async () => {
    const made = await run('fork', failed, '--at', '1');
    const id = made.stdout.trim();
    const dry = await result('prune', '--keep', '0', '--dry-run');
    expect(dry).toMatchObject({ dry_run: true, deleted: expect.arrayContaining([id, failed]) as string[] });
    const pruned = await result('prune', '--keep', '0');
    expect(pruned).toMatchObject({ code: 0, kept: [] });
    expect(pruned.bytes).toBeGreaterThan(0);
    expect(await result('ls')).toMatchObject({ sessions: 0 });
  });
});
