import fc from 'fast-check';
import { expect, test } from 'vitest';
import { escapeMarks, Secrets, unescapeMarks } from './secrets.ts';

const guarded = (value: string): Secrets => {
  const secrets = new Secrets();
  secrets.add('KEY', value);
  return secrets;
};

test.each([
  ['plain', (v: string) => `Bearer ${v}.`],
  ['in JSON', (v: string) => JSON.stringify({ v })],
  ['in JSON in JSON', (v: string) => JSON.stringify(JSON.stringify({ v }))],
  ['in a URL', (v: string) => `https://x/?q=${encodeURIComponent(v)}`],
  ['in a form', (v: string) => new URLSearchParams({ v }).toString()],
  ['in lower-case URL escapes', (v: string) => encodeURIComponent(v).replace(/%../g, (x) => x.toLowerCase())],
  ['in base64', (v: string) => Buffer.from(v).toString('base64')],
  ['in basic authentication', (v: string) => `Basic ${Buffer.from(`user:${v}`).toString('base64')}`],
  ['in base64 one further', (v: string) => Buffer.from(`ab${v}cd`).toString('base64')],
  ['in base64url', (v: string) => Buffer.from(`u:${v}?`).toString('base64url')],
])('a secret is found %s', (_name, wrap) => {
  for (const value of ['hunter2hunter2', 'p@ss "w/ord\\ +ä&=\n?', 'ÿÿÿ>>>???~~~!!!']) {
    const clean = guarded(value).redact(wrap(value));
    expect(clean).toContain('{{secret:KEY}}');
    expect(clean).not.toContain(wrap(value));
  }
});

test('a secret is found where an encoder kept to ASCII, however often JSON stands inside of JSON', () => {
  const ascii = (upper: boolean) => (value: string) =>
    JSON.stringify(value).replace(/[^ -~]/g, (unit) => {
      const hex = unit.charCodeAt(0).toString(16).padStart(4, '0');
      return `\\u${upper ? hex.toUpperCase() : hex}`;
    });
  for (const value of ['pässwörd-ÿ', 'key-🔑-schlüssel', 'tab\tdel\u007fétage"\\']) {
    const secrets = guarded(value);
    for (const encode of [ascii(false), ascii(true)]) {
      let inner = encode(value);
      let mixed = JSON.stringify(value);
      for (let level = 1; level <= 4; level++, inner = encode(inner), mixed = encode(mixed)) {
        for (const text of [inner, mixed]) {
          expect(secrets.suspects(JSON.stringify({ text }))).toBe(true);
          const clean = secrets.redact(text);
          expect(clean).toContain('{{secret:KEY}}');
          expect(clean).not.toMatch(/u[0-9a-fA-F]{4}|tage/);
        }
      }
    }
  }
});

test('values, names of members and numbers are all looked at; what holds none is returned as it is', () => {
  const secrets = guarded('12345678');
  expect(secrets.redact({ 'k-12345678': ['x12345678', 12345678, 12345679, null, true] })).toEqual({
    'k-{{secret:KEY}}': ['x{{secret:KEY}}', '{{secret:KEY}}', 12345679, null, true],
  });
  const clean = { a: ['b', 1] };
  expect(secrets.redact(clean)).toBe(clean);
});

test('of two secrets the longer one is seen first', () => {
  const secrets = new Secrets();
  secrets.add('SHORT', 'abcdef');
  secrets.add('LONG', 'abcdef-123456');
  expect(secrets.redact('abcdef-123456 abcdef')).toBe('{{secret:LONG}} {{secret:SHORT}}');
});

test('a value too short to be told from ordinary text is not taken', () => {
  const secrets = new Secrets();
  expect(secrets.add('PIN', '12345')).toBe(false);
  expect(secrets.redact('12345')).toBe('12345');
});

test('keys that give themselves away are recognised, ordinary words with such a beginning are not', () => {
  const secrets = new Secrets();
  const random = 'Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4zAb7d';
  for (const key of [
    `sk-${random}`,
    `sk-proj-${random}`,
    `ghp_${random}`,
    `github_pat_${random}`,
    `AKIA${'ABCDEFGH12345678'}`,
    `hf_${random}`,
  ]) {
    expect(secrets.redact(`key=${key};`)).toBe('key={{secret:detected}};');
  }
  const pem = `-----BEGIN RSA PRIVATE KEY-----\n${'A1b2'.repeat(20)}\n-----END RSA PRIVATE KEY-----`;
  expect(secrets.redact(`x ${pem} y`)).toBe('x {{secret:detected}} y');
  expect(secrets.redact(JSON.stringify({ pem }))).toBe('{"pem":"{{secret:detected}}"}');
  for (const text of [
    'sk-learn',
    'risk-averse-and-very-long-compound-words',
    'AKIARA',
    'a -----BEGIN PRIVATE KEY----- line, and text',
  ]) {
    expect(secrets.redact(text)).toBe(text);
  }
  expect(new Secrets({ detect: false }).redact(`sk-${random}`)).toBe(`sk-${random}`);
});

test('text that looks like a mark is escaped and comes back', () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom('{{', '$', 'secret:', 'X', '}}', '{')).map((parts) => parts.join('')),
      (text) => {
        expect(unescapeMarks(escapeMarks(text))).toBe(text);
        expect(escapeMarks(text)).not.toMatch(/\{\{secret:/);
      },
    ),
  );
});

test('a stream holds back just what may be the beginning of a secret', () => {
  const secrets = guarded('correct-horse');
  expect(secrets.safeLength('text corre')).toBe('text '.length);
  expect(secrets.safeLength('text correct-horse')).toBe('text correct-horse'.length);
  expect(secrets.safeLength('text xyz')).toBe('text xyz'.length);
  expect(secrets.safeLength('key sk-Ab3d')).toBe('key '.length);
});

test('however a text is cut into pieces, a secret in it does not get through', () => {
  const secrets = guarded('correct-horse-battery');
  const source = 'a correct-horse-battery b correct-horse c';
  fc.assert(
    fc.property(fc.array(fc.nat(source.length)), (cuts) => {
      const places = [0, ...cuts.sort((a, b) => a - b), source.length];
      let out = '';
      let held = '';
      for (let i = 1; i < places.length; i++) {
        const text = held + source.slice(places[i - 1], places[i]);
        const safe = secrets.safeLength(text);
        out += secrets.redact(text.slice(0, safe));
        held = text.slice(safe);
      }
      expect(out + secrets.redact(held)).toBe('a {{secret:KEY}} b correct-horse c');
    }),
  );
});

test('bytes that hold a secret are recognised', () => {
  const secrets = guarded('hunter2hunter2');
  expect(secrets.heldBy(Buffer.from('\0\xffx=hunter2hunter2', 'latin1'))).toBe(true);
  expect(secrets.heldBy(Buffer.from('nothing'))).toBe(false);
});
