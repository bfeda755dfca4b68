import fc from 'fast-check';
import { expect, test } from 'vitest';
import { collect, header } from '../test/build.ts';
import type { Event, EventData } from './event.ts';
import { exactNumber, stringifyJson } from './json.ts';
import { memoryStore, memoryWriter } from './memory-store.ts';
import { Secrets } from './secrets.ts';

const toolStep = (input: unknown): EventData['step.started'] =>
  ({
    kind: 'tool',
    name: 't',
    input,
    digest: '',
    causes: [],
    parent: null,
    agent: 'main',
    turn: 1,
    plugin: null,
  }) as never;

test('what cannot be logged takes no number and leaves no gap', async () => {
  const store = memoryStore();
  const writer = await store.create(header('s'));
  expect(() => writer.append('step.started', toolStep({ x: undefined }))).toThrow('/input/x');
  expect(() => writer.append('step.started', toolStep({}), 7)).toThrow('the next step is 1, not 7');
  expect(() => writer.append('step.finished', { status: 'ok', duration_ms: 1, attempts: 1 }, 1)).toThrow(
    'has started, not 1',
  );
  expect(() => writer.append('session.opened', header())).toThrow('written by the store');
  expect(() => writer.append('x-list' as never, [1] as never)).toThrow('must be an object');
  expect(() => writer.append('bad "type"' as never, {} as never)).toThrow('no name for an event type');
  expect(writer.append('step.started', toolStep({}))).toMatchObject({ seq: 1, step: 1 });
  expect((await store.verify('s')).ok).toBe(true);
});

test('the record keeps what was appended, whatever happens to the object afterwards', () => {
  const writer = memoryWriter(header());
  const input = { rows: [{ amount: 1 }] };
  const event = writer.append('step.started', toolStep(input));
  (input.rows[0] as { amount: number }).amount = 2;
  expect((event.data as EventData['step.started']).input).toEqual({ rows: [{ amount: 1 }] });
  expect(writer.view.step(1)?.input).toEqual({ rows: [{ amount: 1 }] });
});

test('any value comes back from the log, also what looks like our own marks, small or large', async () => {
  const special = fc.constantFrom(
    '{{secret:X}}',
    '{{$secret:X}}',
    'a{{secret:',
    '$blob',
    '\u2028',
    '\ud83d',
    'x'.repeat(9000),
  );
  const text = fc.oneof(fc.string({ unit: 'binary' }), special);
  const anything = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: 'medium' },
      text,
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.constant(exactNumber('12345678901234567890')),
      fc.constant(null),
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(fc.oneof(text, fc.constantFrom('__proto__', '$blob', '$$blob')), tie('value'), {
        maxKeys: 3,
      }),
      tie('value').map((inner) => ({ $blob: inner })),
      fc.constant({ $blob: { sha256: 'a'.repeat(64), bytes: 1, media_type: 'text/plain' } }),
    ),
  })).value;
  await fc.assert(
    fc.asyncProperty(anything, async (value) => {
      const store = memoryStore();
      const writer = await store.create(header('s'));
      writer.append('step.started', toolStep(value));
      expect(stringifyJson(writer.view.step(1)?.input)).toBe(stringifyJson(value));
      const event = (await collect((await store.reader('s')).events()))[1] as Event;
      expect(stringifyJson((event.data as EventData['step.started']).input)).toBe(stringifyJson(value));
      const lines = await collect((await store.reader('s')).lines());
      expect(lines.every((line) => !/[\n\u2028\u2029\u0085]/.test(line) && line.isWellFormed())).toBe(true);
    }),
    { numRuns: 300 },
  );
});

test('a large value stands once in the store, whoever refers to it', async () => {
  const store = memoryStore();
  const writer = await store.create(header('s'));
  const big = { rows: Array.from({ length: 1000 }, (_, i) => ({ i, text: 'row' })) };
  const first = writer.append('step.started', toolStep(big));
  const second = writer.append('step.started', toolStep(structuredClone(big)));
  const ref = (first.data as EventData['step.started']).input;
  expect(ref).toEqual({
    $blob: {
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      bytes: JSON.stringify(big).length,
      media_type: 'application/json',
    },
  });
  expect((second.data as EventData['step.started']).input).toEqual(ref);
  expect(writer.view.step(2)?.input).toEqual(big);
  const { $blob } = writer.blob(Buffer.from([0, 255, 7]));
  expect(Buffer.from((await store.blob($blob.sha256)) ?? [])).toEqual(Buffer.from([0, 255, 7]));
});

test('a secret that comes in two pieces of a stream is in neither', async () => {
  const secrets = new Secrets();
  secrets.add('KEY', 'correct-horse-battery');
  const store = memoryStore({ secrets });
  const writer = await store.create(header('s'));
  const { step } = writer.append('step.started', toolStep({}));
  writer.append('step.chunk', { attempt: 1, text: 'it is corr', reasoning: 'say correct-horse-' }, step);
  writer.append('step.chunk', { attempt: 1, text: 'ect-horse-battery. corr', reasoning: 'battery' }, step);
  writer.append('step.finished', { status: 'ok', output: 'x', duration_ms: 1, attempts: 1 }, step);
  expect(writer.view.step(1)?.attempts[0]).toMatchObject({
    text: 'it is {{secret:KEY}}. corr',
    reasoning: 'say {{secret:KEY}}',
  });
  const log = (await collect((await store.reader('s')).lines())).join('\n');
  expect(log).not.toMatch(/orse|batt/);
});

test('subscribers see every event as logged, in order; one that fails harms nobody', async () => {
  const warnings: unknown[] = [];
  const onWarning = (warning: Error): void => void warnings.push(warning.message);
  process.on('warning', onWarning);
  const writer = memoryWriter(header());
  const seen: number[] = [];
  writer.subscribe(() => {
    throw new Error('listener is broken');
  });
  const end = writer.subscribe((event) => seen.push(event.seq));
  writer.append('note.added', { text: 'a', author: 'me' });
  writer.append('note.added', { text: 'b', author: 'me' });
  end();
  writer.append('note.added', { text: 'c', author: 'me' });
  expect(seen).toEqual([1, 2]);
  await new Promise((resolve) => setImmediate(resolve));
  process.off('warning', onWarning);
  expect(warnings[0]).toContain('listener is broken');
});

test('after closing nothing more is taken', async () => {
  const writer = memoryWriter(header());
  await writer.close();
  await writer.close();
  expect(() => writer.append('note.added', { text: '', author: '' })).toThrow('closed for writing');
});
