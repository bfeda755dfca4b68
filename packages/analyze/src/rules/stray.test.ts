/** Code that breaks over one text in a list of numbers: the list, not the code, is at fault. */
import type { Json } from '@chassis/types';
import { expect, test } from 'vitest';
import { failure, Story } from '../../test/build.ts';
import { why } from '../why.ts';

function summed(amounts: readonly Json[], given: readonly Json[] = amounts) {
  const story = new Story('Sum the orders.');
  const from = story.call(
    'orders',
    { page: 1 },
    { orders: amounts.map((amount, n) => ({ id: `A-${n}`, amount })) },
  );
  const message = "TypeError: unsupported operand type(s) for +: 'float' and 'str' (main.py:6)";
  const error = failure('InternalError', -32603, message, { place: 'main.py:6' });
  const to = story.call('total', { amounts: [...given] }, { error });
  return { from, to, found: why(story.fail()) };
}

test('of three amounts one is written as a text: where it came from', () => {
  const { from, found } = summed([12.5, '7,90', 3]);
  expect(found.cause).toMatchObject({ step: from, pointer: '/output/orders/1/amount', rule: 'odd-value' });
});

test('a text that the model put among the numbers', () => {
  const { to, found } = summed([12.5, 7.9, 3], [12.5, 'seven ninety', 3]);
  expect(found.cause).toMatchObject({ step: to - 1, rule: 'born-in-model' });
});

test('with numbers alone the code is at fault', () => {
  const { to, found } = summed([12.5, 7.9, 3]);
  expect(found.cause).toMatchObject({ step: to, rule: 'own-code' });
});
