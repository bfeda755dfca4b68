/** Notes, and commands on sessions that are too long to be read as a whole. */

import { join } from 'node:path';
import { fileStore } from '@chassis/journal';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chassis, type Ended, records, type TempFolder, tempFolder } from './support/chassis.ts';

const STEPS = 1200;
let folder: TempFolder;
const id = 'longsession1';

const run = (...args: string[]): Promise<Ended> => chassis(args, { cwd: folder.path });

beforeAll(async () => {
  folder = tempFolder();
  const store = fileStore({
    root: join(folder.path, '.chassis'),
    snapshotEvents: 100,
    segmentBytes: 100_000,
  });
  const writer = await store.create({
    format: 'chassis.session',
    v: 1,
    id,
    created: 1_760_000_000_000,
    chassis: '0.1.0',
    title: 'long',
    workspace: folder.path,
    project: folder.path,
    agent: { name: 'default', version: '1.0.0', digest: '', agent: 'main' },
    model: { name: 'scripted', fallbacks: [], params: {} },
    plugins: [],
    settings: {},
  });
  for (let number = 1; number <= STEPS; number++) {
    const turn = Math.ceil(number / 100);
    if (number % 100 === 1) writer.append('input.received', { turn, content: `task ${turn}` });
    const common = { digest: '', causes: [], parent: null, agent: 'main', turn, plugin: null } as const;
    writer.append('step.started', { kind: 'tool', name: 'count', input: { number }, ...common });
    writer.append('step.dispatched', { attempt: 1, idempotency_key: `k${number}` }, number);
    const effects = [{ kind: 'file', path: `file${number % 3}`, before: null, after: `${number}` }] as never;
    const output = { count: number, text: 'x'.repeat(600) };
    writer.append('step.finished', { status: 'ok', output, duration_ms: 1, attempts: 1, effects }, number);
    if (number % 100 === 0) {
      writer.append('session.ended', { outcome: 'ok', turn, answer: `done ${turn}` });
      await writer.barrier();
    }
  }
  await writer.close();
  await store.close();
});
afterAll(() => folder[Symbol.dispose]());

it('show lists the last steps and says how to see the others', async () => {
  const shown = await run('show', id);
  expect(shown.stdout).toContain('steps 1 to 1180 are not listed');
  expect(shown.stdout).toContain('turn 12  task 12');
  expect(shown.stdout).not.toContain('turn 11  task 11');
  expect(shown.stdout).toMatch(/^1181 .*count/m);
  const [record] = records((await run('show', id, '--json')).stdout);
  const { session } = record as { session: { steps: { number: number }[]; steps_before: number } };
  expect(session.steps_before).toBe(200);
  expect(session.steps.map(({ number }) => number)).toEqual(Array.from({ length: 1000 }, (_, i) => i + 201));
});

it('a step, its value and the state behind it are those of that step', async () => {
  expect((await run('show', `${id}:77#/output/count`)).stdout.trim()).toBe('77');
  const [state] = records((await run('state', `${id}:600`, '--json')).stdout);
  expect(state).toMatchObject({ at: 600, turn: 6, steps: 600, running: [] });
  expect((state as { files: { path: string; after: string }[] }).files.map(({ after }) => after)).toEqual([
    '600',
    '598',
    '599',
  ]);
});

it('log --last prints the newest events, and not beside --from', async () => {
  const lines = (await run('log', id, '--last', '2', '--raw')).stdout.trim().split('\n');
  expect(lines).toHaveLength(2);
  expect(JSON.parse(lines[1] as string)).toMatchObject({ type: 'session.ended', data: { turn: 12 } });
  const refused = await run('log', id, '--last', '2', '--from', '1');
  expect(refused).toMatchObject({ code: 2 });
});

it('a fork in the middle has the past up to there', async () => {
  const fork = (await run('fork', id, '--at', '600')).stdout.trim();
  const [shown] = records((await run('state', `${fork}:600`, '--json')).stdout);
  expect(shown).toMatchObject({ steps: 600, turn: 6 });
  expect((await run('show', `${fork}:599#/output/count`)).stdout.trim()).toBe('599');
  expect((await run('verify', fork)).code).toBe(0);
});

it('a note stands by its step and by the session, and changes nothing else', async () => {
  const noted = await run('note', `${id}:5`, 'the amounts are in cents');
  expect(noted.code).toBe(0);
  expect((await run('show', `${id}:5`)).stdout).toMatch(/note {2}by \S+: the amounts are in cents/);
  expect((await run('show', id)).stdout).toMatch(/note by \S+ on step 5: the amounts are in cents/);
  expect((await run('log', id, '--last', '1')).stdout).toContain('the amounts are in cents');
  expect((await run('ls')).stdout).toMatch(new RegExp(`${id}.* ok `));
  expect((await run('note', id, ' ')).code).toBe(2);
  expect((await run('note', `${id}:9999`, 'x')).code).toBe(2);
  expect((await run('verify', id)).code).toBe(0);
});
