import { expect, test } from 'vitest';
import { wordsOf } from './ties.ts';

test('a word is the same in the plural, in camel case and in capitals', () => {
  expect(wordsOf('two cases')).toContain(wordsOf('caseOpen')[0]);
  expect(wordsOf('INVOICES')).toEqual(wordsOf('invoice'));
});

test('what any failure may say is no word of a subject', () => {
  expect(wordsOf('the request could not be found')).not.toContain('request');
  expect(wordsOf('404 not found')).toEqual(['404']);
});
