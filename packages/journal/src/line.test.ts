import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { UnknownEvent } from './event.ts';
import { parseJson, stringifyJson } from './json.ts';
import { decodeLine, GENESIS, LineEncoder } from './line.ts';
import { lineHead } from './line-head.ts';

const hash = 'a'.repeat(64);

/** The event with what was left out put back. */
function whole(line: Buffer | string): unknown {
  const { event, large } = decodeLine(line, true);
  if (large === undefined) return event;
  return { ...event, data: { ...(event.data as object), [large.key]: large.value.get() } };
}

const rows = fc.array(
  fc.record({ '}"': fc.string(), n: fc.double({ noNaN: true, noDefaultInfinity: true }) }),
  {
    size: 'max',
    maxLength: 60,
  },
);
const member = fc.oneof(fc.jsonValue(), fc.string({ unit: 'binary', size: 'max', maxLength: 2000 }), rows);
const data = fc
  .tuple(
    fc.dictionary(fc.string({ unit: 'binary' }), member, { maxKeys: 3 }),
    fc.option(rows),
    fc.dictionary(fc.constantFrom('status', 'error', 'a"b\\', '__proto__'), member, { maxKeys: 2 }),
  )
  .map(([before, output, after]) => ({ ...before, ...(output === null ? {} : { output }), ...after }));

test('a line read lean is the line read by parsing all of it', () => {
  let left = 0;
  fc.assert(
    fc.property(data, fc.option(fc.nat(), { nil: undefined }), fc.nat(), (value, step, seq) => {
      const encoder = new LineEncoder('s', GENESIS);
      const text = stringifyJson(value);
      const line = Buffer.from(encoder.encode(seq, -5, 'step.finished', step, text).subarray(0, -1));
      const parsed = parseJson(line.toString());
      if (decodeLine(line, true).large) left++;
      expect(whole(line)).toEqual(parsed);
      expect(decodeLine(line).event).toEqual(parsed);
    }),
    { numRuns: 200 },
  );
  expect(left).toBeGreaterThan(10);
});

const large = JSON.stringify('x'.repeat(1200));
const start = '{"v":1,"session":"s","seq":7,"time":1,"type":"step.finished","step":3,"data":';

test.each([
  ['a second member of the same name', `${start}{"output":${large},"output":1},"hash":"${hash}"}`],
  ['the data a second time', `${start}{"output":${large}},"data":{"output":2},"hash":"${hash}"}`],
  ['a member behind the data', `${start}{"output":${large}},"more":{"output":${large}},"hash":"${hash}"}`],
  ['an escaped name', `${start}{"out\\u0070ut":${large}},"hash":"${hash}"}`],
  ['white space', `${start}{ "output" : ${large} },"hash":"${hash}"}`],
  [
    'a number that a double cannot hold',
    `${start}{"output":[${large},12345678901234567890]},"hash":"${hash}"}`,
  ],
])('what is read of a line does not depend on how: %s', (_, line) => {
  const parsed = parseJson(line) as unknown as UnknownEvent;
  expect(whole(line)).toEqual(parsed);
  expect(decodeLine(line).event).toEqual(parsed);
});

test('a head is what a parser finds, or none', () => {
  expect(lineHead(Buffer.from(`${start}{}`))).toEqual({
    v: 1,
    session: 's',
    seq: 7,
    time: 1,
    type: 'step.finished',
    step: 3,
    dataAt: start.length,
  });
  const whole = Buffer.from(start);
  for (let end = 0; end < whole.length; end++) expect(lineHead(whole.subarray(0, end))).toBeUndefined();
  for (const broken of [
    '{"v":1,"session":"","seq":7,"time":1,"type":"a","data":{}',
    '{"v":1,"session":"a\\n","seq":7,"time":1,"type":"a","data":{}',
    '{"v":1,"session":"a","seq":-7,"time":1,"type":"a","data":{}',
    '{"v":1,"session":"a","seq":1234567890123456,"time":1,"type":"a","data":{}',
    '{"v":1,"session":"a","seq":7,"time":1.5,"type":"a","data":{}',
    `{"v":1,"session":"${'a'.repeat(129)}","seq":7,"time":1,"type":"a","data":{}`,
  ])
    expect(lineHead(Buffer.from(broken))).toBeUndefined();
});
