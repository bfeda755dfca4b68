/** Any generated run replays, and any change of it is found at its first step. */
import { Secrets } from '@chassis/journal';
import type { Json, JsonObject } from '@chassis/types';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Fakes, fakeRegistry, says } from '../../test/support/fake-registry.ts';
import { openSession } from '../../test/support/sessions.ts';
import { replay } from './replay.ts';
import { Session } from './session.ts';

type Agent = NonNullable<Fakes['agent']>;

/** What an agent does, one after another; a group runs at once. */
type Action =
  | { readonly kind: 'model'; readonly words: string }
  | {
      readonly kind: 'tools';
      readonly calls: readonly { readonly input: JsonObject; readonly delay: number }[];
    }
  | { readonly kind: 'fails'; readonly input: JsonObject }
  | { readonly kind: 'state'; readonly value: JsonObject }
  | { readonly kind: 'now' };

const values = fc
  .dictionary(fc.string({ unit: 'grapheme', maxLength: 6 }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 })
  .map((value) => JSON.parse(JSON.stringify(value)) as JsonObject);
const action: fc.Arbitrary<Action> = fc.oneof(
  fc.record({ kind: fc.constant('model' as const), words: fc.string({ unit: 'grapheme', maxLength: 20 }) }),
  fc.record({
    kind: fc.constant('tools' as const),
    calls: fc.array(fc.record({ input: values, delay: fc.integer({ min: 0, max: 2 }) }), {
      minLength: 1,
      maxLength: 4,
    }),
  }),
  fc.record({ kind: fc.constant('fails' as const), input: values }),
  fc.record({ kind: fc.constant('state' as const), value: values }),
  fc.record({ kind: fc.constant('now' as const) }),
);
const turns = fc.array(fc.array(action, { maxLength: 8 }), { minLength: 1, maxLength: 3 });

const agentOf =
  (plan: readonly (readonly Action[])[]): Agent =>
  async (input, ctx) => {
    const seen: unknown[] = [];
    for (const one of plan[input.turn - 1] ?? []) {
      switch (one.kind) {
        case 'model': {
          const messages = [{ role: 'user', content: `${one.words} ${JSON.stringify(seen)}` }];
          seen.push(await ctx.call('model.generate', { messages }));
          break;
        }
        case 'tools':
          await Promise.all(
            one.calls.map(async ({ input: args, delay }) => {
              // What arrives first is seen first: the order of answers is part of the run.
              seen.push(await ctx.call('tool.call', { name: 'echo', arguments: { args, delay } }));
            }),
          );
          break;
        case 'fails':
          seen.push(await ctx.call('tool.call', { name: 'fail', arguments: one.input }));
          break;
        case 'state':
          seen.push(await ctx.call('state.update', { name: 's', value: one.value }));
          break;
        case 'now':
          seen.push(await ctx.now());
          break;
      }
    }
    return { answer: JSON.stringify(seen) };
  };

async function recorded(plan: readonly (readonly Action[])[]) {
  const agent = agentOf(plan);
  const { session, around } = await openSession({
    agent,
    settings: { limits: { steps: 1000, repeats: 1000 } },
    tools: {
      echo: {
        run: async (input) => {
          for (let n = 0; n < (input.delay as number); n++) await new Promise(setImmediate);
          return input;
        },
      },
      fail: {
        run: () => {
          throw Object.assign(new Error('no'), { code: -32602 });
        },
      },
    },
    models: { p: (request) => says(`heard ${request.messages.length}`) },
  });
  for (const [at] of plan.entries()) await session.prompt(`turn ${at}`);
  await session.close();
  return { view: session.view, around };
}

const share = process.env.CHASSIS_FULL === '1' ? 1000 : 60;

test(`no false alarm in ${share} clean replays`, async () => {
  await fc.assert(
    fc.asyncProperty(turns, async (plan) => {
      const { view } = await recorded(plan);
      const report = await replay(
        view,
        fakeRegistry({ agent: agentOf(plan) }),
        new Secrets(),
        new AbortController().signal,
      );
      expect(report.divergence).toBeUndefined();
      expect(report).toMatchObject({ ok: true, steps: view.steps.length, turns: plan.length });
    }),
    { numRuns: share },
  );
});

test('a changed argument is found at its step, wherever it stands', async () => {
  const single = fc.array(fc.record({ input: values, delay: fc.constant(0) }), {
    minLength: 1,
    maxLength: 6,
  });
  await fc.assert(
    fc.asyncProperty(single, fc.nat(), async (calls, where) => {
      const at = where % calls.length;
      const plan = (changed: boolean): Action[][] => [
        calls.map((call, n) => ({
          kind: 'tools',
          calls: [changed && n === at ? { ...call, input: { ...call.input, 'changed here': n } } : call],
        })),
      ];
      const { view } = await recorded(plan(false));
      const report = await replay(
        view,
        fakeRegistry({ agent: agentOf(plan(true)) }),
        new Secrets(),
        new AbortController().signal,
      );
      expect(report).toMatchObject({
        ok: false,
        divergence: { step: at + 1, path: '/input/args/changed here', expected: null, actual: at },
      });
    }),
    { numRuns: Math.ceil(share / 3) },
  );
});

test('a fork anywhere, with an edit, runs on and replays', async () => {
  await fc.assert(
    fc.asyncProperty(turns, fc.nat(), fc.jsonValue({ maxDepth: 1 }), async (plan, where, edit) => {
      const { view, around } = await recorded(plan);
      const finished = view.steps.filter((step) => step.status === 'ok');
      const step = finished[where % Math.max(1, finished.length)];
      if (step === undefined) return;
      const value = JSON.parse(JSON.stringify(edit)) as Json;
      const edits = step.kind === 'tool' ? [{ step: step.number, path: '/output', value }] : [];
      const fork = await Session.fork(around, { parent: view.header.id, at: step.number, edits });
      expect(await fork.resume()).toMatchObject({ turn: step.turn, outcome: 'ok' });
      await fork.close();
      if (edits.length > 0) expect(fork.view.step(step.number)?.output).toEqual(value);
      const reopened = await (await around.store.reader(fork.id)).view();
      const report = await replay(
        reopened,
        fakeRegistry({ agent: agentOf(plan) }),
        new Secrets(),
        new AbortController().signal,
      );
      expect(report.divergence).toBeUndefined();
      expect(report).toMatchObject({ ok: true, turns: step.turn });
    }),
    { numRuns: share / 2 },
  );
});
