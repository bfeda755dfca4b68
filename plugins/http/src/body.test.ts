import { expect, test } from 'vitest';
import { decodeBody, readBody } from './body.ts';

const body = (bytes: Uint8Array | string): { bytes: Uint8Array; truncated: boolean } => ({
  bytes: Buffer.from(bytes as string),
  truncated: false,
});

test('the charset of the header decides, then the mark, then the page itself', () => {
  const latin = Buffer.from([0x63, 0x61, 0x66, 0xe9]);
  expect(decodeBody(body(latin), 'text/plain; charset=ISO-8859-1')).toMatchObject({ text: 'café' });
  expect(decodeBody(body(Buffer.from('\uFEFFx', 'utf16le')), 'text/plain')).toMatchObject({
    text: 'x',
    charset: 'utf-16le',
  });
  const page = Buffer.concat([Buffer.from('<html><meta charset="windows-1252">'), latin]);
  expect(decodeBody(body(page), 'text/html')).toMatchObject({ charset: 'windows-1252' });
  expect(decodeBody(body(Buffer.from('日本', 'utf8')), 'application/json; charset=bogus')).toMatchObject({
    text: '日本',
    charset: 'utf-8',
  });
});

test('bytes outside of the charset are flagged; binary content is no text', () => {
  expect(decodeBody(body(Buffer.from([0x61, 0xff])), 'text/plain')).toEqual({
    text: 'a\uFFFD',
    binary: false,
    charset: 'utf-8',
    invalid_text: true,
  });
  expect(decodeBody(body('PNG'), 'image/png')).toEqual({ text: null, binary: true });
  expect(decodeBody(body(Buffer.from([1, 0, 2])), null)).toEqual({ text: null, binary: true });
  expect(decodeBody(body(Buffer.from([0x61, 0xff])), null)).toEqual({ text: null, binary: true });
  expect(decodeBody(body('plain'), null)).toMatchObject({ text: 'plain' });
  expect(decodeBody(body('{}'), 'application/problem+json')).toMatchObject({ text: '{}' });
});

test('a body at the limit is whole, one byte more is cut, between characters', async () => {
  const stream = (): ReadableStream<Uint8Array> => new Blob(['ab€']).stream();
  expect(await readBody(stream(), 5)).toMatchObject({ truncated: false });
  const cut = await readBody(stream(), 4);
  expect(cut.truncated).toBe(true);
  expect(cut.bytes).toHaveLength(4);
  expect(decodeBody(cut, 'text/plain')).toEqual({ text: 'ab', binary: false, charset: 'utf-8' });
  expect(await readBody(null, 1)).toEqual({ bytes: new Uint8Array(), truncated: false });
});
