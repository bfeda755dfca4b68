import type { Message } from '@chassis/types';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { header } from '../../test/build.ts';
import { resolveRefs } from '../blob-ref.ts';
import { messageDelta } from '../delta.ts';
import type { EventData } from '../event.ts';
import { Fold } from '../fold.ts';
import { decodeLine } from '../line.ts';
import { memoryStore } from '../memory-store.ts';
import type { SessionView } from '../step.ts';
import type { Writer } from '../store.ts';
import { Past, type PastEvent } from './past.ts';
import type { NodeRef } from './rows.ts';
import { Trail } from './trail.ts';

type Deed =
  | { readonly kind: 'turn' | 'end' | 'resume' | 'note' | 'value' | 'ask' | 'answer' | 'foreign' }
  | { readonly kind: 'model' | 'tool' | 'state'; readonly size: number }
  | { readonly kind: 'finish' | 'fail' | 'chunk' | 'rerun' | 'edit'; readonly pick: number };

const deed: fc.Arbitrary<Deed> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom('model', 'tool', 'state'),
      size: fc.constantFrom(1, 3, 900, 9000),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constantFrom('finish', 'finish', 'finish', 'fail', 'chunk'),
      pick: fc.nat(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('rerun', 'edit'), pick: fc.nat() }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constantFrom('turn', 'end', 'resume', 'note', 'value', 'ask', 'answer', 'foreign'),
    }),
  },
) as fc.Arbitrary<Deed>;

/** Does what may happen in a session, in any order that a log can have. */
function perform(writer: Writer, deeds: readonly Deed[]): void {
  const { view } = writer;
  let messages: readonly Message[] = [{ role: 'user', content: 'go' }];
  let previous: { step: number; messages: readonly Message[] } | null = null;
  const asked: string[] = [];
  for (const one of deeds) {
    const turn = Math.max(1, view.turns.length);
    const open = view.steps.filter((step) => step.seq.finished === undefined);
    switch (one.kind) {
      case 'turn':
        writer.append('input.received', {
          turn: view.turns.length + 1,
          content: 'more',
          tools: writer.blob([]),
        });
        break;
      case 'end':
        if (view.turns.length > 0)
          writer.append('session.ended', { outcome: 'ok', turn: view.turns.length, answer: 'done' });
        break;
      case 'resume':
        writer.append('session.resumed', { reason: 'interrupted', rerun: open.map(({ number }) => number) });
        break;
      case 'model':
      case 'tool':
      case 'state': {
        messages = [...messages.slice(-6), { role: 'user', content: 'x'.repeat(one.size) }];
        const input: unknown =
          one.kind === 'model'
            ? { messages: messageDelta(previous, messages), tools: writer.blob([]), params: {} }
            : { text: 'y'.repeat(one.size) };
        const { step = 0 }: { step?: number } = writer.append('step.started', {
          kind: one.kind,
          name: 'n',
          input: input as never,
          digest: String(one.size),
          causes: open.map(({ number }) => number),
          parent: open.at(-1)?.number ?? null,
          agent: 'main',
          turn,
          plugin: null,
        });
        writer.append('step.dispatched', { attempt: 1, idempotency_key: `k${step}` }, step);
        if (one.kind === 'model') previous = { step, messages };
        break;
      }
      case 'chunk':
      case 'finish':
      case 'fail': {
        const step = open[one.pick % Math.max(1, open.length)];
        if (step === undefined) break;
        if (one.kind === 'chunk')
          writer.append('step.chunk', { attempt: 1, text: `t${one.pick}` }, step.number);
        else if (one.kind === 'fail')
          writer.append(
            'step.attempt',
            {
              attempt: 1,
              error: { code: -32011, name: 'Timeout', message: 'late' } as never,
              usage: null,
              wait_ms: 1,
            },
            step.number,
          );
        else
          writer.append(
            'step.finished',
            {
              status: 'ok',
              output: { text: 'z'.repeat(one.pick % 12_000) },
              duration_ms: one.pick,
              attempts: 1,
              ...(one.pick % 3 === 0
                ? { effects: [{ kind: 'file', path: '/a', before: null, after: 'h' }] as never }
                : {}),
            },
            step.number,
          );
        break;
      }
      case 'rerun':
      case 'edit': {
        const step = view.steps[one.pick % Math.max(1, view.steps.length)];
        const { seq } = view.steps.at(-1)?.seq.started === undefined ? { seq: 0 } : { seq: view.lastSeq };
        const edits =
          one.kind === 'edit' && step !== undefined
            ? [
                step.kind === 'model' && one.pick % 2 === 0
                  ? { step: step.number, path: '/input/params', value: { heat: one.pick } }
                  : { step: step.number, path: '/output', value: { edited: one.pick } },
              ]
            : [];
        // An answer that is not there cannot be edited.
        if (edits.some(({ path }) => path === '/output') && step?.output === undefined) break;
        const data: EventData['session.forked'] = {
          parent: { session: 'p', seq, step: 0 },
          edits,
          rerun: open.map(({ number }) => number),
        };
        writer.append('session.forked', data);
        break;
      }
      case 'note':
        writer.append('note.added', { text: 'look', author: 'me' });
        break;
      case 'value':
        writer.append('value.read', { name: 'now', value: 7, agent: 'main', turn }, open[0]?.number);
        break;
      case 'ask':
        asked.push(`a${view.approvals.length}`);
        writer.append('approval.requested', {
          id: asked.at(-1) as string,
          tool: 't',
          plugin: { name: 'p', version: '1', digest: '' },
          input: {},
          digest: '',
          reason: '',
        });
        break;
      case 'answer': {
        const id = asked.pop();
        if (id !== undefined) writer.append('approval.resolved', { id, decision: 'allow', by: 'me' });
        break;
      }
      case 'foreign':
        writer.append('x-other.thing' as never, { some: 'thing' } as never);
    }
  }
}

function take(fold: Fold, one: PastEvent | undefined): void {
  if (one !== undefined) fold.apply(one.event, one.resolve, one.large);
}

/** Everything that a view says, as plain data. */
function told(view: SessionView): unknown {
  const { turns, steps, values, approvals, notes, lastSeq, outcome } = view;
  const requests = steps
    .filter(({ kind }) => kind === 'model')
    .map(({ number }) => [view.request(number), view.delta?.(number)?.added]);
  return JSON.parse(
    JSON.stringify({ turns, steps, values, approvals, notes, lastSeq, outcome, requests }),
  ) as unknown;
}

test('the fold of all events is the fold of a snapshot and the rest, wherever it was taken', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(deed, { minLength: 1, maxLength: 60 }),
      fc.nat(),
      fc.nat(),
      async (deeds, a, b) => {
        const store = memoryStore();
        const writer = await store.create(header());
        perform(writer, [{ kind: 'turn' }, ...deeds]);
        const lines = await Array.fromAsync((await store.reader(writer.id)).lines());
        const resolve = (ref: { $blob: { sha256: string; media_type: string } }) => {
          const bytes = blobs.get(ref.$blob.sha256) as Buffer;
          const value = JSON.parse(
            ref.$blob.media_type === 'text/plain' ? JSON.stringify(bytes.toString()) : bytes.toString(),
          );
          return resolveRefs(value, resolve as never);
        };
        const blobs = new Map<string, Buffer>();
        for (const line of lines)
          for (const [, sha] of line.matchAll(/"sha256":"([0-9a-f]{64})"/g))
            blobs.set(sha as string, (await store.blob(sha as string)) as Buffer);
        const read = (seq: number, lean = true): PastEvent | undefined => {
          const line = lines[seq];
          if (line === undefined) return undefined;
          const { event, refs, large } = decodeLine(line, lean);
          return { event, resolve: refs ? (resolve as never) : undefined, large };
        };
        const whole = new Fold(writer.header);
        const events = lines.map((_, seq) => read(seq) as PastEvent);
        for (const { event, resolve: refs, large } of events) whole.apply(event, refs, large);

        // One that lets go of whatever it may, as soon as it may.
        const small = new Fold(writer.header, new Past(new Trail(), read));
        for (const [seq, event] of events.entries()) {
          take(small, event);
          if (seq % 3 === a % 3) small.release(seq - (b % 4), 1);
        }
        expect(told(small.view)).toEqual(told(whole.view));

        // Two snapshots, the second on top of the first.
        const cuts = [a % lines.length, b % lines.length].sort((x, y) => x - y);
        const saved: Buffer[] = [];
        const write = (bytes: Buffer): NodeRef => {
          saved.push(bytes);
          return { session: 's', record: saved.length - 1, from: 0, length: bytes.length };
        };
        const load = ({ record }: NodeRef): Buffer => saved[record] as Buffer;
        let past = new Past(new Trail(), read);
        let at = 0;
        for (const cut of cuts) {
          const fold = new Fold(writer.header, past);
          for (; at <= cut; at++) take(fold, events[at]);
          const state = JSON.parse(JSON.stringify(past.trail.save(write)));
          past.trail.saved(true);
          expect(past.trail.broken).toBe(false);
          past = new Past(new Trail(state, load), read);
        }
        const rest = new Fold(writer.header, past);
        for (; at < events.length; at++) take(rest, events[at]);
        expect(told(rest.view)).toEqual(told(whole.view));
        expect(told(writer.view)).toEqual(told(whole.view));
        const { steps } = whole.view;
        expect(rest.view.marks?.unfinished()).toEqual(
          steps.filter(({ seq }) => seq.finished === undefined).map(({ number }) => number),
        );
        expect(rest.view.marks?.changing()).toEqual(
          expect.arrayContaining(
            steps.filter(({ effects }) => effects.length > 0).map(({ number }) => number),
          ),
        );
      },
    ),
    { numRuns: process.env.CHASSIS_FULL === '1' ? 2000 : 150 },
  );
});
