// biome-ignore-all lint/suspicious/noTemplateCurlyInString: placeholders of the configuration are the subject
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { expand, type Lookup, pieces, placeholdersIn } from './placeholders.ts';

const lookup: Lookup = {
  env: (name) => ({ HOST: 'h', TRICK: '${env:HOST}' })[name],
  secret: async (name) => (name === 'KEY' ? 'k' : undefined),
};

describe('placeholders', () => {
  test('are expanded wherever a string stands', async () => {
    expect(
      await expand({ url: 'http://${env:HOST}:1/${secret:KEY}', list: ['${env:HOST}', 5] }, lookup),
    ).toEqual({
      url: 'http://h:1/k',
      list: ['h', 5],
    });
  });

  test('are never expanded twice', async () => {
    expect(await expand('${env:TRICK}', lookup)).toBe('${env:HOST}');
  });

  test('that are unset are an error with the name and the path, and nothing else', async () => {
    await expect(expand({ a: ['x${env:NOT_SET_X}y${env:HOST}'] }, lookup)).rejects.toMatchObject({
      message: 'the variable NOT_SET_X is not set',
      path: '/a/0',
    });
    await expect(expand('${secret:NOPE}', lookup)).rejects.toThrow('the secret NOPE is not set');
  });

  test.each(['a${b', '$', '${', '$x', 'cost ${amount}', '}{', '$${'])('%j is text', async (text) => {
    expect(await expand(text, lookup)).toBe(text.replace('$${', '${'));
  });

  test.each(['${env:}', '${env:A B}', '${env:HOST', '${secret:x-y}', '${HOST}'])(
    '%j is refused',
    async (text) => {
      await expect(expand(text, lookup)).rejects.toThrow(/placeholder/);
    },
  );

  test('$${ stands for ${', async () => {
    expect(await expand('$${env:HOST} $${HOST}', lookup)).toBe('${env:HOST} ${HOST}');
  });

  test('a text is expanded whole or not at all', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('$', '{', '}', 'env:', 'secret:', 'A', 'b', ' ') }),
        (text) => {
          let parts: ReturnType<typeof pieces>;
          try {
            parts = pieces(text);
          } catch {
            return;
          }
          const again = parts
            .map((part) =>
              typeof part === 'string' ? part.replaceAll('${', () => '$${') : `\${${part.kind}:${part.name}}`,
            )
            .join('');
          expect(pieces(again)).toEqual(parts);
        },
      ),
    );
  });

  test('can be listed without being expanded', () => {
    expect(placeholdersIn({ a: 'x${secret:KEY}', b: ['${env:HOST}'] })).toEqual([
      { kind: 'secret', name: 'KEY' },
      { kind: 'env', name: 'HOST' },
    ]);
  });
});
