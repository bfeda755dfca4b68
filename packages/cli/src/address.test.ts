import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Address, formatAddress, isBundlePath, parseAddress } from './address.ts';

describe('parseAddress', () => {
  const cases: [string, Address][] = [
    ['k3f', { session: 'k3f' }],
    ['@last', { session: '@last' }],
    ['k3f:4', { session: 'k3f', step: 4 }],
    ['@failed:cause', { session: '@failed', step: 'cause' }],
    ['@failed:fail#/error/message', { session: '@failed', step: 'fail', pointer: '/error/message' }],
    ['k3f:end#/output/text@10-18', { session: 'k3f', step: 'end', pointer: '/output/text', range: [10, 18] }],
    ['k3f#/turns/0/input', { session: 'k3f', pointer: '/turns/0/input' }],
    ['k3f:2#', { session: 'k3f', step: 2, pointer: '' }],
    ['./a%3Ab.session.jsonl:2', { session: './a:b.session.jsonl', step: 2 }],
    ['k3f:2#/output/a%40b%2523', { session: 'k3f', step: 2, pointer: '/output/a@b%23' }],
  ];
  it.each(cases)('%s', (text, address) => {
    expect(parseAddress(text)).toEqual(address);
  });

  it.each([
    ['', 'it names no session'],
    [':4', 'it names no session'],
    ['k3f:x', '"x" is no step'],
    ['k3f:-1', '"-1" is no step'],
    ['k3f:2#output', '"output" is no JSON Pointer'],
    ['k3f:2#/a@5', '"5" is no range'],
    ['k3f:2#/a@5-3', '"5-3" is no range'],
    ['a%zz', 'two hex digits'],
    ['k3f:2:3', '"2:3" is no step'],
  ])('refuses %j: %s', (text, why) => {
    expect(() => parseAddress(text)).toThrow(why);
  });

  it('reads back every address that is written', () => {
    const part = fc.string({ unit: 'grapheme-ascii', minLength: 1 });
    const address = fc.record(
      {
        session: fc.oneof(part, fc.constantFrom('@last', '@failed', '../x y/ü.session.jsonl')),
        step: fc.oneof(
          fc.nat({ max: 10_000 }),
          fc.constantFrom('fail' as const, 'cause' as const, 'end' as const),
        ),
        pointer: fc.array(part).map((tokens) => tokens.map((token) => `/${token}`).join('')),
        range: fc.tuple(fc.nat(), fc.nat()).map(([from, more]) => [from, from + more] as [number, number]),
      },
      { requiredKeys: ['session'] },
    );
    fc.assert(
      fc.property(address, (given) => {
        expect(parseAddress(formatAddress(given))).toEqual(given);
      }),
    );
  });
});

describe('isBundlePath', () => {
  it('knows files from ids', () => {
    expect(['a/b', 'night.session.jsonl', 'night.session.jsonl.zst', './x'].every(isBundlePath)).toBe(true);
    expect(['k3f', '@last', 'a.b'].some(isBundlePath)).toBe(false);
  });
});
