import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileStore } from '@chassis/journal';
import type { TurnResult } from '@chassis/runtime';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Bundled, bundled } from '../../journal/test/bundled.ts';

/** Kills in all, over both kinds of run. */
const kills = process.env.CHASSIS_FULL === '1' ? 400 : 30;

/** A small generator of numbers in [0, 1), so that a failure can be run again by its seed (mulberry32). */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

let program: Bundled;
beforeAll(async () => {
  const root = mkdtempSync(join(tmpdir(), 'chassis-kill-'));
  program = await bundled(join(import.meta.dirname, 'kill-child.ts'), [root, 'new', 'safe']);
  rmSync(root, { recursive: true });
});
afterAll(() => program[Symbol.dispose]());

/** Starts the child and kills it `ms` after its session is open, unless it ends before. */
async function runAndKill(root: string, id: string, mode: string, ms: number | null) {
  const child = spawn(process.execPath, [...program.args, root, id, mode], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: program.env,
  });
  let stdout = '';
  let stderr = '';
  child.stderr.on('data', (text) => {
    stderr += text;
  });
  const opened = new Promise<void>((resolve) => {
    child.stdout.on('data', (text) => {
      stdout += text;
      resolve();
    });
    child.on('exit', () => resolve());
  });
  const ended = new Promise<NodeJS.Signals | null>((resolve) =>
    child.on('exit', (_code, signal) => resolve(signal)),
  );
  await opened;
  if (ms !== null) {
    await Promise.race([sleep(ms), ended]);
    child.kill('SIGKILL');
  }
  const signal = await ended;
  return { id: stdout.trim() || id, killed: signal === 'SIGKILL', stderr };
}

const uninterrupted = new Map<string, TurnResult>();

async function reference(mode: string): Promise<TurnResult> {
  const known = uninterrupted.get(mode);
  if (known !== undefined) return known;
  const root = mkdtempSync(join(tmpdir(), 'chassis-kill-'));
  await runAndKill(root, 'new', mode, null);
  const result = JSON.parse(readFileSync(join(root, 'answer.json'), 'utf8')) as TurnResult;
  rmSync(root, { recursive: true });
  uninterrupted.set(mode, result);
  return result;
}

describe.concurrent.each(['safe', 'write'])('a %s run', (mode) => {
  test(`killed ${kills / 2} times at random: nothing recorded is lost, nothing is done twice, the model is told the truth`, async ({
    expect,
  }) => {
    const seed = Number(process.env.CHASSIS_SEED ?? Math.floor(Math.random() * 2 ** 31));
    const random = generator(seed);
    const expected = await reference(mode);
    let killed = 0;
    while (killed < kills / 2) {
      const root = mkdtempSync(join(tmpdir(), 'chassis-kill-'));
      const store = fileStore({ root: join(root, '.chassis') });
      let id = 'new';
      let lastSeq = -1;
      let sealed: string[] = [];
      for (let tries = 0; !existsSync(join(root, 'answer.json')); tries++) {
        const last = tries === 6 || killed >= kills / 2;
        const run = await runAndKill(root, id, mode, last ? null : random() * 160);
        if (!run.killed && run.stderr !== '') throw new Error(`seed ${seed}: ${run.stderr}`);
        if (run.id === 'new') continue;
        id = run.id;
        if (run.killed) killed++;
        const view = await (await store.reader(id)).view();
        expect(view.lastSeq, `seed ${seed}`).toBeGreaterThanOrEqual(lastSeq);
        const finished = view.steps
          .filter((step) => step.status === 'ok')
          .map((step) => `${step.number}:${JSON.stringify(step.output)}`);
        expect(finished.slice(0, sealed.length), `seed ${seed}`).toEqual(sealed);
        lastSeq = view.lastSeq;
        sealed = finished;
      }
      const verification = await store.verify(id);
      expect(verification, `seed ${seed}`).toMatchObject({ ok: true, problems: [] });
      const result = JSON.parse(readFileSync(join(root, 'answer.json'), 'utf8')) as TurnResult;
      expect(result.outcome, `seed ${seed}`).toBe('ok');
      if (mode === 'safe') expect(result.answer, `seed ${seed}`).toBe(expected.answer);
      else expectTruth(root, result.answer ?? '', seed);
      await store.close();
      rmSync(root, { recursive: true });
    }
  }, 1_200_000);
});

/** Each line at most once; what the model was told about each append is not more than what happened. */
function expectTruth(root: string, answer: string, seed: number): void {
  const lines = existsSync(join(root, 'lines.txt'))
    ? readFileSync(join(root, 'lines.txt'), 'utf8').trim().split('\n')
    : [];
  expect(new Set(lines).size, `seed ${seed}: ${lines}`).toBe(lines.length);
  const told = answer.split(' | ').filter((_text, index) => index % 3 === 2);
  expect(told, `seed ${seed}`).toHaveLength(5);
  for (const [n, text] of told.entries()) {
    if (text === `appended ${n}`) expect(lines, `seed ${seed}`).toContain(`line ${n}`);
    else expect(text, `seed ${seed}`).toContain('OutcomeUnknown');
  }
}
