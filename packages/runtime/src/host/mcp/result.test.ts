import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { outcomeOf } from './result.ts';

const results = JSON.parse(
  readFileSync(join(import.meta.dirname, '../../../test/cases/c8_results.json'), 'utf8'),
) as Record<string, unknown>;

test('a tool that says it failed is a failure, and its structured content is kept', () => {
  expect(outcomeOf(results.r1)).toMatchObject({
    code: 1,
    data: null,
    error: { message: 'disk 4 is offline', details: { structured: { code: 'OFFLINE', disk: 4 } } },
  });
});

test('a failure without a word gets one', () => {
  expect(outcomeOf(results.r2)).toMatchObject({
    code: 1,
    error: { message: 'the tool failed and gave no reason' },
  });
});

test('text that begins with "Error:" is no failure', () => {
  expect(outcomeOf(results.r3)).toEqual({ code: 0, data: 'Error: is the name of this poem', error: null });
});

test('structured content is the output', () => {
  expect(outcomeOf(results.r4)).toEqual({ code: 0, data: { n: 7 }, error: null });
});

test('a part of unknown kind is named in the text and kept whole', () => {
  expect(outcomeOf(results.r5)).toEqual({
    code: 0,
    data: {
      text: '[hologram, 1 bytes]\nsee above',
      $content: (results.r5 as { content: unknown }).content,
    },
    error: null,
  });
});

test('an attachment beside structured content is kept, and named to the model', () => {
  const content = [{ type: 'image', data: 'AAAA', mimeType: 'image/png' }];
  expect(outcomeOf({ content, structuredContent: { n: 7 } })).toEqual({
    code: 0,
    data: { text: '{"n":7}\n[image image/png, 3 bytes]', $content: content, structured: { n: 7 } },
    error: null,
  });
});

test.each([null, 5, {}, [], { isError: true }])('what is no tool result is InvalidOutput: %j', (answer) => {
  expect(() => outcomeOf(answer)).toThrow(/neither content nor structuredContent/);
});
