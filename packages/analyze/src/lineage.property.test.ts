import type { SessionView } from '@chassis/journal';
import type { Json } from '@chassis/types';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Story } from '../test/build.ts';
import { forward } from './forward.ts';
import type { Link } from './hops.ts';
import { leavesOf } from './json.ts';
import { lineage } from './lineage.ts';
import { originsOf } from './origins.ts';
import { callsOf, type Place, read } from './place.ts';

/** Values that collide, contain each other, and need escapes. */
const value = fc.oneof(
  fc.constantFrom<Json>(
    '1.249,90',
    1249.9,
    '1249.90',
    'A-1001',
    'A-10012',
    '/srv/data',
    '/srv/data/a.txt',
    'say "hi"\n',
    'N/A',
    5,
    12,
    '2026-03-01',
    '01.03.2026',
    'Grüße, Welt',
    'Z3LDvMOfZQ==',
  ),
  fc.string({ maxLength: 12 }),
  fc.integer(),
);
const data = fc.dictionary(
  fc.constantFrom('id', 'amount', 'amounts', 'path', 'text', 'rows'),
  fc.oneof(value, fc.array(value, { maxLength: 4 })),
  { maxKeys: 3 },
);
const call = fc.record({
  input: data,
  output: data,
  reasoning: fc.option(value.map(String), { nil: undefined }),
  cut: fc.boolean(),
});

function tell(
  calls: readonly { input: Json; output: Json; reasoning: string | undefined; cut: boolean }[],
): SessionView {
  const story = new Story('Pay 1.249,90 for A-1001 on 2026-03-01.');
  for (const { input, output, reasoning, cut } of calls) {
    story.model([{ tool: 'work', input }], reasoning === undefined ? {} : { reasoning });
    const message = JSON.stringify(output);
    story.tool(0, cut ? { output, message: message.slice(0, 10) } : { output });
  }
  return story.ok('Done with 1249.90.');
}

function places(view: SessionView): Place[] {
  return view.steps.flatMap((step) => {
    const roots = step.kind === 'model' ? (['output'] as const) : (['input', 'output'] as const);
    return roots.flatMap((root) =>
      leavesOf(step[root], `/${root}`).map(({ pointer }) => ({ step: step.number, pointer })),
    );
  });
}

/** The text at an end of a link, read without any of the code that made the link. */
function bytes(view: SessionView, place: Place): string {
  const whole = read(view, { step: place.step, pointer: place.pointer });
  const text = typeof whole === 'string' ? whole : JSON.stringify(whole);
  if (!place.range) return text;
  const part = text.slice(...place.range);
  // A part of a JSON document in a string is written with escapes.
  return /^\s*[[{]/.test(text)
    ? part.replaceAll(/\\(["n\\])/g, (_, char: string) => (char === 'n' ? '\n' : char))
    : part;
}

const digits = (text: string): string => text.replaceAll(/\D/g, '');
/** The digits of a number that make its value. */
const significant = (text: string): string => digits(text).replaceAll(/^0+|0+$/g, '');

function check(view: SessionView, link: Link): void {
  const [from, to] = [bytes(view, link.from), bytes(view, link.to)];
  const shown = JSON.stringify(link);
  if (link.form === 'exact') expect(from, shown).toBe(to);
  if (link.form === 'number') expect(significant(from), shown).toBe(significant(to));
  if (link.form === 'date') expect(digits(from).split('').sort(), shown).toEqual(digits(to).split('').sort());
  if (link.form === 'spelling')
    expect(from.toLowerCase().replaceAll(/\s/g, ''), shown).toBe(to.toLowerCase().replaceAll(/\s/g, ''));
  expect(link.to.step, shown).toBeLessThanOrEqual(link.from.step);
  if (link.label === 'recorded') expect(isFact(view, link), shown).toBe(true);
}

/** The record itself says it: an argument of the model's own call, or a message made of a step's data. */
function isFact(view: SessionView, { from, to }: Link): boolean {
  const [later, earlier] = [view.step(from.step), view.step(to.step)];
  if (later?.kind === 'tool' && earlier?.kind === 'model') {
    return (
      from.pointer.startsWith('/input') &&
      callsOf(earlier).some(({ id, pointer }) => id === later.call_id && pointer === to.pointer)
    );
  }
  return (
    later !== undefined &&
    originsOf(view, later.number).some(
      ({ first, source }) => source?.step === earlier || first.step === earlier?.number,
    )
  );
}

test('lineage never gives a link that the bytes do not support, nor calls one recorded that is not', () => {
  let links = 0;
  fc.assert(
    fc.property(fc.array(call, { minLength: 1, maxLength: 5 }), (calls) => {
      const view = tell(calls);
      for (const place of places(view)) {
        const found = lineage(view, place);
        for (const link of [...(found?.links ?? []), ...(found?.pieces.map((piece) => piece.link) ?? [])]) {
          links++;
          check(view, link);
        }
      }
    }),
    { numRuns: 150 },
  );
  expect(links).toBeGreaterThan(500);
});

test('forward never gives a link that the bytes do not support', () => {
  fc.assert(
    fc.property(fc.array(call, { minLength: 1, maxLength: 3 }), (calls) => {
      const view = tell(calls);
      for (const place of places(view)) for (const link of forward(view, place) ?? []) check(view, link);
    }),
    { numRuns: 60 },
  );
});

test('hops lead from link to link, from the place asked for to the birth', () => {
  fc.assert(
    fc.property(fc.array(call, { minLength: 1, maxLength: 4 }), (calls) => {
      const view = tell(calls);
      for (const place of places(view)) {
        const found = lineage(view, place);
        if (!found) continue;
        const ends = [found.at, ...found.links.map(({ to }) => to)];
        expect(found.links.map(({ from }) => from)).toEqual(ends.slice(0, -1));
        expect(found.birth).toEqual(ends.at(-1));
      }
    }),
    { numRuns: 60 },
  );
});
