/** Values as hostile as JSON allows, for round trips. */
import type { Json } from '@chassis/types';
import fc from 'fast-check';
import { parseJson } from '../src/index.ts';

/** Text that has broken readers of logs: separators, half characters, zeros, what looks like parts of the format itself. */
const HOSTILE = [
  '\u2028',
  '\u2029',
  '\u0085',
  '\n',
  '\r\n',
  '\0',
  '\ufeff',
  '\ud83d',
  '\ude00',
  '\ud83d\ude00',
  '"',
  '\\',
  '\\u2028',
  '{{secret:X}}',
  '{{$secret:X}}',
  '{"$blob":{"sha256":"0","bytes":1,"media_type":"text/plain"}}',
  `,"hash":"${'0'.repeat(64)}"}`,
  '{"v":1,"session":"s","seq":0',
  '__proto__',
  '-0',
];

const hostileText = (): fc.Arbitrary<string> =>
  fc
    .array(
      fc.oneof(
        fc.constantFrom(...HOSTILE),
        fc.string(),
        fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)),
      ),
      { maxLength: 6 },
    )
    .map((parts) => parts.join(''));

const KEYS = ['__proto__', '$blob', '$$blob', 'constructor', 'hash', 'data', 'toJSON', ''];

export const anyValue: fc.Arbitrary<Json> = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constant(null),
    fc.boolean(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.constantFrom(-0, 5e-324, Number.MAX_VALUE, 2 ** 53),
    fc.bigInt().map((n) => parseJson(String(n))),
    fc.constantFrom('0.1000000000000000055511151231257827', '1e400', '1e-400').map((text) => parseJson(text)),
    hostileText(),
    fc.array(tie('value'), { maxLength: 5 }),
    fc.dictionary(fc.oneof(hostileText(), fc.constantFrom(...KEYS)), tie('value'), { maxKeys: 5 }),
  ),
})).value;
