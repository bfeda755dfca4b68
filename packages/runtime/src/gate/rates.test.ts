import { ErrorCode } from '@chassis/errors';
import type { Event } from '@chassis/journal';
import { Secrets } from '@chassis/journal';
import type { Json, JsonObject } from '@chassis/types';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type FakeTool, fakeRegistry } from '../../test/support/fake-registry.ts';
import { openSession } from '../../test/support/sessions.ts';
import { replay } from '../session/index.ts';
import { Rates } from './rates.ts';

test('in no minute more calls start than allowed, and a refused one is told the exact wait', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 5 }),
      fc.array(fc.integer({ min: 0, max: 40_000 }), { maxLength: 60 }),
      (perMinute, pauses) => {
        let now = 0;
        const rates = new Rates(() => now);
        const starts: number[] = [];
        for (const pause of pauses) {
          now += pause;
          const wait = rates.take('t', perMinute);
          if (wait > 0) {
            expect(rates.take('t', perMinute)).toBe(wait);
            now += wait;
            expect(rates.take('t', perMinute)).toBe(0);
          }
          starts.push(now);
        }
        for (const from of starts)
          expect(starts.filter((at) => at >= from && at < from + 60_000).length).toBeLessThanOrEqual(
            perMinute,
          );
      },
    ),
  );
});

test('places among the running are handed over in the order of asking, and none is lost', async () => {
  const rates = new Rates();
  const never = new AbortController().signal;
  const order: number[] = [];
  let most = 0;
  let running = 0;
  await Promise.all(
    Array.from({ length: 20 }, async (_, k) => {
      const leave = await rates.enter('t', 3, 60_000, never);
      order.push(k);
      most = Math.max(most, ++running);
      await new Promise((resolve) => setImmediate(resolve));
      running--;
      leave?.();
      leave?.();
    }),
  );
  expect(order).toEqual(Array.from({ length: 20 }, (_, k) => k));
  expect(most).toBe(3);
});

test('who gives up waiting leaves no gap in the queue', async () => {
  const rates = new Rates();
  const never = new AbortController().signal;
  const leave = await rates.enter('t', 1, 1, never);
  const cancel = new AbortController();
  const second = rates.enter('t', 1, 60_000, cancel.signal);
  const third = rates.enter('t', 1, 60_000, never);
  cancel.abort();
  expect(await second).toBeUndefined();
  expect(await rates.enter('t', 1, 1, never)).toBeUndefined();
  leave?.();
  expect(await third).toBeTypeOf('function');
});

describe('a tool with a rate', () => {
  const quick: FakeTool = { timeout_ms: 50, rate: { per_minute: 2 }, run: () => 'ok' };

  async function run(tool: FakeTool, times: number, together = false) {
    let outcomes: JsonObject[] = [];
    const agent = async (_input: unknown, ctx: { call(m: string, p: JsonObject): Promise<Json> }) => {
      outcomes = [];
      const call = async () => {
        outcomes.push((await ctx.call('tool.call', { name: 'limited', arguments: {} })) as JsonObject);
      };
      if (together) await Promise.all(Array.from({ length: times }, call));
      else for (let k = 0; k < times; k++) await call();
      return { answer: JSON.stringify(outcomes.map(({ status }) => status)) };
    };
    const opened = await openSession({ tools: { limited: tool }, agent });
    const result = await opened.session.prompt('go');
    await opened.session.close();
    return { ...opened, agent, outcomes, result };
  }

  const types = (events: readonly Event[], step: number) =>
    events.filter((event) => event.step === step).map((event) => event.type);

  test('is refused when its minute is full: nothing was dispatched, and the model is told when to come back', async () => {
    let ran = 0;
    const { outcomes, events } = await run({ ...quick, run: () => ++ran }, 3);
    expect(ran).toBe(2);
    expect(outcomes[2]).toMatchObject({
      status: 'error',
      error: {
        code: ErrorCode.RateLimited,
        data: {
          per_minute: 2,
          retry_after_ms: expect.any(Number),
          fix: expect.stringContaining('again after'),
        },
      },
    });
    expect(types(events, 3)).toEqual(['step.started', 'step.finished']);
  });

  test('replays with the same refusals, whatever the clock says then', async () => {
    const { session, agent } = await run(quick, 4);
    const report = await replay(
      session.view,
      fakeRegistry({ agent }),
      new Secrets(),
      new AbortController().signal,
    );
    expect(report).toMatchObject({ ok: true });
  });

  test('runs one call at a time when it says so, however many are asked for at once', async () => {
    let running = 0;
    let most = 0;
    const { outcomes } = await run(
      {
        rate: { concurrency: 1 },
        run: async () => {
          most = Math.max(most, ++running);
          await new Promise((resolve) => setTimeout(resolve, 5));
          running--;
        },
      },
      5,
      true,
    );
    expect(most).toBe(1);
    expect(outcomes.map(({ status }) => status)).toEqual(Array(5).fill('ok'));
  });

  test('is refused at once when it would wait for itself, with the way that leads there', async () => {
    let inner: JsonObject = {};
    const { outcomes } = await run(
      {
        timeout_ms: 60_000,
        rate: { concurrency: 1 },
        run: async (_input, ctx) => {
          inner = (await ctx.call('tool.call', { name: 'limited', arguments: { again: 1 } })) as JsonObject;
          return 'done';
        },
      },
      1,
    );
    expect(outcomes).toMatchObject([{ status: 'ok' }]);
    expect(inner).toMatchObject({
      status: 'error',
      error: {
        code: ErrorCode.InvalidRequest,
        message: 'limited runs at most 1 times at once and would wait for itself: limited → limited',
        data: { fix: expect.stringContaining('rate.concurrency') },
      },
    });
  });

  test('is refused when no running call ends as long as it may take itself', async () => {
    let release: () => void = () => {};
    const { outcomes } = await run(
      {
        timeout_ms: 20,
        rate: { concurrency: 1 },
        run: (_input, { signal }) =>
          new Promise((resolve) => {
            release = () => resolve('late');
            signal.addEventListener('abort', () => setTimeout(release, 60));
          }),
      },
      2,
      true,
    );
    expect(outcomes.find(({ status }) => status === 'error')).toMatchObject({
      error: { code: ErrorCode.RateLimited, data: { concurrency: 1 } },
    });
  });
});
