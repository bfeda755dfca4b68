import fc from 'fast-check';
import { expect, test } from 'vitest';
import { collect, header, Run, TOOLS } from '../test/build.ts';
import type { Event, EventData, EventType, UnknownEvent } from './event.ts';
import { Fold, foldSession } from './fold.ts';
import { memoryStore, memoryWriter } from './memory-store.ts';
import type { SessionView } from './step.ts';

/** Everything a view says, as plain data. */
function told(view: SessionView): unknown {
  const requests = view.steps
    .filter((step) => step.kind === 'model')
    .map((step) => view.request(step.number));
  const { header: head, turns, steps, values, approvals, notes, lastSeq, outcome } = view;
  return structuredClone({ head, turns, steps, values, approvals, notes, lastSeq, outcome, requests });
}

test('steps are numbered from 1 in the order in which they started', () => {
  const writer = memoryWriter(header());
  const run = new Run(writer);
  run.begin();
  run.cycles(2);
  run.end();
  expect(writer.view.steps.map(({ number, kind, status }) => [number, kind, status])).toEqual([
    [1, 'model', 'ok'],
    [2, 'tool', 'ok'],
    [3, 'model', 'ok'],
    [4, 'tool', 'ok'],
  ]);
  expect(writer.view.step(4)).toMatchObject({
    input: { page: 2 },
    output: { rows: [{ day: 2, amount: 20 }] },
    causes: [3],
  });
  expect(writer.view.step(3)?.input).toEqual({ messages: 3, tools: 1, params: {} });
  expect(writer.view.turns).toEqual([
    { number: 1, input: 'What is the average?', outcome: 'ok', answer: '42' },
  ]);
  expect(writer.view.outcome).toBe('ok');
  expect(writer.view.step(5)).toBeUndefined();
});

test('a request is what the model was sent, message by message', () => {
  const writer = memoryWriter(header());
  const run = new Run(writer);
  const sent: unknown[] = [];
  for (let i = 0; i < 30; i++) {
    sent.push([...run.messages]);
    run.model(`answer ${i}`);
    run.tool({ i });
    if (i === 12) run.messages.splice(1, 8, { role: 'user', content: 'in short: nothing yet' });
  }
  const steps = writer.view.steps.filter((step) => step.kind === 'model');
  for (const [i, step] of [...steps.entries()].reverse()) {
    expect(writer.view.request(step.number)).toEqual({ messages: sent[i], tools: TOOLS, params: {} });
  }
  expect(() => writer.view.request(2)).toThrow('step 2 is no model step');
});

test('attempts keep what they had streamed, and what it cost', () => {
  const writer = memoryWriter(header());
  const { step } = writer.append('step.started', started('model'));
  writer.append('step.dispatched', { attempt: 1, idempotency_key: 'k', model: 'm1' }, step);
  writer.append('step.chunk', { attempt: 1, text: 'par', reasoning: 'hm' }, step);
  const usage = { input: 50, cached: 0, output: 12, reasoning: 0, lower_bound: true };
  writer.append(
    'step.attempt',
    { attempt: 1, error: { code: -32010, name: 'ModelError', message: 'cut' }, usage, wait_ms: 100 },
    step,
  );
  writer.append('step.dispatched', { attempt: 2, idempotency_key: 'k' }, step);
  writer.append('step.chunk', { attempt: 2, text: 'comp' }, step);
  writer.append('step.chunk', { attempt: 2, text: 'lete' }, step);
  writer.append(
    'step.finished',
    { status: 'ok', output: 'complete', duration_ms: 5, attempts: 2, usage: { ...usage, output: 30 } },
    step,
  );
  expect(writer.view.step(1)?.attempts).toMatchObject([
    { number: 1, model: 'm1', text: 'par', reasoning: 'hm', usage, wait_ms: 100 },
    { number: 2, text: 'complete' },
  ]);
  expect(writer.view.step(1)?.usage?.output).toBe(30);
});

test('unknown events change nothing, also not a later step', () => {
  const fold = new Fold(header('s'));
  fold.apply({
    v: 1,
    session: 's',
    seq: 0,
    time: 0,
    type: 'x-plugin.sparkle',
    step: 1,
    data: { level: 3 },
    hash: '',
  });
  fold.apply({ v: 1, session: 's', seq: 1, time: 0, type: 'constructor', data: null, hash: '' });
  expect(fold.view.steps).toEqual([]);
  expect(fold.view.lastSeq).toBe(1);
});

test('a fork sees its edit, and steps that had not finished start anew', async () => {
  const store = memoryStore();
  const writer = await store.create(header('parent'));
  const run = new Run(writer);
  run.begin();
  run.cycles(1);
  const { step } = writer.append('step.started', started('tool'));
  writer.append('step.dispatched', { attempt: 1, idempotency_key: 'k' }, step);
  const fork = await store.fork('parent', writer.view.lastSeq, header('fork'));
  fork.append('session.forked', {
    parent: { session: 'parent', seq: writer.view.lastSeq, step: 2 },
    edits: [
      { step: 2, path: '/output/rows/0/amount', value: 99 },
      { step: 1, path: '/input/messages/0/content', value: 'And the median?' },
      { step: 1, path: '/output/content', value: 'edited' },
    ],
    rerun: [3],
  });
  expect(fork.view.step(2)?.output).toEqual({ rows: [{ day: 1, amount: 99 }] });
  expect(fork.view.step(2)?.edits).toHaveLength(1);
  expect(fork.view.request(1).messages[0]?.content).toBe('And the median?');
  expect(fork.view.step(3)).toMatchObject({
    status: 'started',
    attempts: [],
    seq: { started: expect.any(Number) },
  });
  expect(fork.view.step(3)?.seq.dispatched).toBeUndefined();
  expect(fork.view.header.id).toBe('fork');
  // The parent is as it was.
  expect(writer.view.step(2)?.output).toEqual({ rows: [{ day: 1, amount: 10 }] });
  expect(writer.view.step(3)?.status).toBe('dispatched');
  expect(told(await (await store.reader('fork')).view())).toEqual(told(fork.view));
});

test('an edited output turns a failed step into one that went well, and the reverse', async () => {
  const writer = memoryWriter(header());
  const { step } = writer.append('step.started', started('tool'));
  writer.append(
    'step.finished',
    { status: 'error', error: { code: 1, name: 'x', message: 'no' }, duration_ms: 1, attempts: 1 },
    step,
  );
  const parent = { session: 'p', seq: 1, step: 1 };
  writer.append('session.forked', { parent, edits: [{ step: 1, path: '/output', value: 7 }], rerun: [] });
  expect(writer.view.step(1)).toMatchObject({ status: 'ok', output: 7 });
  expect(writer.view.step(1)?.error).toBeUndefined();
  writer.append('session.forked', {
    parent,
    edits: [{ step: 1, path: '/error', value: { code: 2, name: 'y', message: 'z' } }],
    rerun: [],
  });
  expect(writer.view.step(1)).toMatchObject({ status: 'error', error: { code: 2 } });
  expect(writer.view.step(1)?.output).toBeUndefined();
});

test('after a crash a step keeps its attempts and starts again', () => {
  const writer = memoryWriter(header());
  const { step } = writer.append('step.started', started('tool'));
  writer.append('step.dispatched', { attempt: 1, idempotency_key: 'k' }, step);
  writer.append('session.resumed', { reason: 'crash', rerun: [1] });
  expect(writer.view.step(1)).toMatchObject({
    status: 'started',
    attempts: [{ number: 1, idempotency_key: 'k' }],
  });
});

test('folding a prefix and then the rest gives what folding everything gives', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(12), { maxLength: 60 }), fc.nat(60), async (script, cut) => {
      const store = memoryStore();
      const writer = await store.create(header('s'));
      play(writer.append.bind(writer), script);
      const events = await collect((await store.reader('s')).events());
      const fold = new Fold(header('s'));
      const at = Math.min(cut, events.length);
      for (const event of events.slice(0, at)) fold.apply(event);
      expect(told(fold.view)).toEqual(told(foldSession(events.slice(0, at), header('s'))));
      for (const event of events.slice(at)) fold.apply(event);
      expect(told(fold.view)).toEqual(told(writer.view));
      expect(told(fold.view)).toEqual(told(foldSession(events)));
    }),
    { numRuns: 60 },
  );
});

test('repeated, reordered and foreign events never throw', () => {
  const types = [
    'input.received',
    'step.started',
    'step.chunk',
    'step.dispatched',
    'step.attempt',
    'step.finished',
    'session.forked',
    'approval.resolved',
    'session.ended',
    'toString',
  ];
  fc.assert(
    fc.property(
      fc.array(
        fc.record({
          type: fc.constantFrom(...types),
          step: fc.nat(4),
          data: fc.constantFrom(null, {}, [], 'x', { rerun: [1, 9] }),
        }),
      ),
      (list) => {
        const fold = new Fold(header('s'));
        for (const [seq, event] of list.entries()) {
          fold.apply({ v: 1, session: 's', seq, time: 0, hash: '', ...event } as unknown as UnknownEvent);
        }
        expect(fold.view.steps.every((step, i) => step.number === i + 1)).toBe(true);
      },
    ),
  );
});

function started(kind: 'tool' | 'model'): EventData['step.started'] {
  const input =
    kind === 'tool' ? { q: 1 } : { messages: { from: null, keep: 0, add: [] }, tools: [], params: {} };
  return {
    kind,
    name: 'n',
    input: input as never,
    digest: '',
    causes: [],
    parent: null,
    agent: 'main',
    turn: 1,
    plugin: null,
  };
}

/** Plays a script of numbers as events that a session may have in any order. */
function play(
  append: <T extends EventType>(type: T, data: EventData[T], step?: number) => Event,
  script: readonly number[],
): void {
  let steps = 0;
  for (const [i, action] of script.entries()) {
    const step = steps === 0 ? undefined : (i % steps) + 1;
    if (action <= 2) {
      append('step.started', started(action === 0 ? 'model' : 'tool'));
      steps++;
    } else if (step !== undefined && action === 3)
      append('step.dispatched', { attempt: 1, idempotency_key: `k${i}` }, step);
    else if (step !== undefined && action === 4) append('step.chunk', { attempt: 1, text: `t${i}` }, step);
    else if (step !== undefined && action === 5)
      append(
        'step.finished',
        { status: 'ok', output: { i, big: 'x'.repeat(i * 400) }, duration_ms: 1, attempts: 1 },
        step,
      );
    else if (action === 6) append('value.read', { name: 'random', value: 0.5, agent: 'main', turn: 1 });
    else if (action === 7) append('input.received', { turn: i, content: `turn ${i}` });
    else if (action === 8) append('session.ended', { outcome: 'failed', turn: i - 1 });
    else if (action === 9) append('note.added', { text: 'n', author: 'a' });
    else if (action === 10)
      append('approval.requested', {
        id: `a${i}`,
        tool: 't',
        plugin: { name: 'p', version: '1', digest: '' },
        input: { i },
        digest: '',
        reason: '',
      });
    else if (action === 11) append('approval.resolved', { id: `a${i - 1}`, decision: 'allow', by: 'me' });
    else append('session.resumed', { reason: 'r', rerun: step === undefined ? [] : [step] });
  }
}
