import { expect, test } from 'vitest';
import { Story } from '../test/build.ts';
import { forward } from './forward.ts';
import { isSupported, lineage } from './lineage.ts';

test('a value is followed to the request that shows it, the model that writes it and the tool that gets it', () => {
  const story = new Story('Pay the open invoice.');
  const fetched = story.call(
    'fetch',
    { open: true },
    { invoices: [{ id: 'INV-2026-0042', amount: '1.249,90' }] },
  );
  const paid = story.call(
    'pay',
    { invoice: 'INV-2026-0042', amount: 1249.9 },
    { receipt: 'R1 for INV-2026-0042' },
  );
  const view = story.ok('Paid INV-2026-0042.');
  const places = (pointer: string): unknown[] | undefined =>
    forward(view, { step: fetched, pointer })?.map(({ from, label, form }) => [
      from.step,
      from.pointer,
      label,
      form,
    ]);
  expect(places('/output/invoices/0/id')).toEqual([
    [3, '/input/messages/3/content', 'recorded', 'exact'],
    [3, '/output/message/tool_calls/0/arguments', 'inferred', 'exact'],
    [paid, '/input/invoice', 'inferred', 'exact'],
    [paid, '/output/receipt', 'inferred', 'exact'],
    [5, '/output/message/content', 'inferred', 'exact'],
  ]);
  expect(places('/output/invoices/0/amount')).toContainEqual([paid, '/input/amount', 'inferred', 'number']);
});

test('every link forward is supported by the bytes, and a container has none', () => {
  const story = new Story('x');
  const step = story.call('read', {}, { path: '/srv/data/a.txt', id: 7 });
  story.call('open', { path: '/srv/data/./a.txt', id: 7 }, { ok: true });
  const view = story.ok();
  const links = forward(view, { step, pointer: '/output/path' }) ?? [];
  expect(links.map(({ form }) => form)).toContain('path');
  expect(links.every((link) => isSupported(view, link))).toBe(true);
  expect(forward(view, { step, pointer: '/output' })).toBeUndefined();
});

test('a link has one label, whichever way it is followed', () => {
  const story = new Story('Pay it.');
  const paid = story.call('pay', { invoice: 'INV-2026-0042', note: 'soon' }, { receipt: 'R-1' });
  const view = story.ok();
  const back = lineage(view, { step: paid, pointer: '/input/invoice' })?.links[0];
  expect(back?.label).toBe('recorded');
  if (!back) throw new Error('no link');
  const there = forward(view, back.to)?.find(
    ({ from }) => from.step === paid && from.pointer === '/input/invoice',
  );
  expect(there?.label).toBe('recorded');
});
