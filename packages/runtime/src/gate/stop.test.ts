import { getEventListeners } from 'node:events';
import { expect, test } from 'vitest';
import { Stop, whenAborted } from './stop.ts';

test('a stop tells its listeners and its signal once, with the reason; a late signal is aborted already', () => {
  const stop = new Stop();
  const heard: unknown[] = [];
  const deaf = (): unknown => heard.push('deaf');
  stop.addEventListener('abort', () => heard.push(stop.reason));
  stop.addEventListener('abort', deaf);
  stop.removeEventListener('abort', deaf);
  const { signal } = stop;
  stop.abort('first');
  stop.abort('second');
  expect(heard).toEqual(['first']);
  expect([signal.aborted, signal.reason]).toEqual([true, 'first']);
  const late = new Stop();
  late.abort('over');
  expect([late.signal.aborted, late.signal.reason]).toEqual([true, 'over']);
});

test('a signal that many share has one listener for all; who took theirs back is not told', () => {
  const controller = new AbortController();
  const heard: string[] = [];
  const forget = Array.from({ length: 100 }, (_, n) =>
    whenAborted(controller.signal, () => heard.push(`${n}`)),
  );
  expect(getEventListeners(controller.signal, 'abort')).toHaveLength(1);
  for (const back of forget.slice(2)) back();
  controller.abort();
  expect(heard).toEqual(['0', '1']);
});
