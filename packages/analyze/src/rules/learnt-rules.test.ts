/** Rules that learn from the run itself what is usual: each with a story in which it speaks, and one so near that it must not. */
import type { SessionView } from '@chassis/journal';
import type { Json } from '@chassis/types';
import { expect, test } from 'vitest';
import { failure, Story } from '../../test/build.ts';
import { gather, said } from '../evidence.ts';
import { symptomOf } from '../symptom.ts';
import { why } from '../why.ts';
import { rules } from './index.ts';

type Called = readonly [input: Json, output: Json];

/** A run that asks one tool several times, and then fails over an argument. */
function told(calls: readonly Called[], failed: { input?: Json; message?: string } = {}): SessionView {
  const story = new Story('Do the work.');
  for (const [input, output] of calls) story.call('look', input, output);
  story.call('use', failed.input ?? { mode: 'x' }, {
    error: failure('ToolError', 17, failed.message ?? 'ended with code 17'),
  });
  return story.fail();
}

function steps(rule: string, view: SessionView): number[] {
  const symptom = symptomOf(view);
  if (!symptom) throw new Error('the story does not fail');
  return rules
    .filter(({ name }) => name === rule)
    .flatMap((one) => said(one, gather(view, symptom)).map(({ step }) => step));
}

test('other-answer learns where a tool repeats what it was asked, and sees that one result is about something else', () => {
  const card = (asked: string, about: string): Called => [{ id: asked }, `Customer: ${about}\nLimit: 4000\n`];
  expect(steps('other-answer', told([card('lot-17', 'lot-17'), card('lot-29', 'lot-92')]))).toEqual([4]);
  expect(steps('other-answer', told([card('lot-17', 'lot-17'), card('lot-29', 'lot-29')]))).toEqual([]);
});

test('unlike-others sees the one result with another status, and the one with a far older date', () => {
  const call = (key: string, rc: number): Called => [{ key }, { rc, data: { slot: key } }];
  expect(steps('unlike-others', told([call('a', 0), call('b', 23), call('c', 0)]))).toContain(4);
  expect(steps('unlike-others', told([call('a', 0), call('b', 0), call('c', 0)]))).toEqual([]);
  const quote = (pair: string, day: string): Called => [
    { pair },
    `<quote><asOf>${day}</asOf><px>12</px></quote>`,
  ];
  const dates = (second: string): Called[] => [
    quote('A', '2025-06-03'),
    quote('B', second),
    quote('C', '2025-06-05'),
    quote('D', '2025-06-04'),
  ];
  expect(steps('unlike-others', told(dates('2023-01-02')))).toEqual([4]);
  expect(steps('unlike-others', told(dates('2025-06-02')))).toEqual([]);
});

test('unlike-end sees the one text that stops in the open', () => {
  const note = (id: number, text: string): Called => [{ id }, `Note ${id}. It was agreed. ${text}`];
  const third = (text: string): Called[] => [note(1, 'The end.'), note(2, 'The end.'), note(3, text)];
  expect(steps('unlike-end', told(third('The reference agreed on is')))).toEqual([6]);
  expect(steps('unlike-end', told(third('The reference is K-1.')))).toEqual([]);
});

test('said-extent reads in a text how much of it there should be', () => {
  const table = (rows: number): string =>
    `# rows: 3\nid,qty\n${['a,1', 'b,2', 'c,3'].slice(0, rows).join('\n')}\n`;
  expect(steps('said-extent', told([[{}, table(2)]]))).toEqual([2]);
  expect(steps('said-extent', told([[{}, table(3)]]))).toEqual([]);
  const page = (number: number): Called => [{ page: number }, `items (page ${number} of 3)\n- a${number}\n`];
  expect(steps('said-extent', told([page(1), page(2)]))).toEqual([4]);
  expect(steps('said-extent', told([page(1), page(3)]))).toEqual([4]);
  expect(steps('said-extent', told([page(1), page(2), page(3)]))).toEqual([]);
  expect(steps('said-extent', told([[{}, 'id,n\nx,1\n-- 2 more rows, continue with from=2\n']]))).toEqual([
    2,
  ]);
});

test('contradiction sees that another tool says otherwise of the same thing', () => {
  const view = (census: number): SessionView => {
    const story = new Story('Do the work.');
    story.call('geo', { place: 'Oberau' }, { place: 'Oberau', population: 31_402 });
    story.call('census', { place: 'Oberau' }, { name: 'Oberau', population: census });
    story.call('submit', { population: 31_402 }, { error: failure('ToolError', 17, 'no') });
    return story.fail();
  };
  expect(steps('contradiction', view(3140))).toEqual([2]);
  expect(steps('contradiction', view(31_402))).toEqual([]);
});

test('misread-date sees a day taken for a month', () => {
  const view = (opened: string, date: string): SessionView => {
    const story = new Story('Do the work.');
    story.call('ticket', { n: 4 }, { opened });
    story.call('remind', { date }, { error: failure('ToolError', 17, `rejected: ${date}`) });
    return story.fail();
  };
  expect(why(view('05.06.2025', '2025-05-06')).cause).toMatchObject({ step: 3, rule: 'misread-date' });
  expect(steps('misread-date', view('05.06.2025', '2025-06-05'))).toEqual([]);
  expect(steps('misread-date', view('2025-06-05', '2025-06-05'))).toEqual([]);
});

test('related names what has to do with the failed call, and never as its cause', () => {
  const story = new Story('Do the work.');
  story.call('weather', { city: 'Rome' }, { sky: 'clear' });
  story.call('resolve', { alias: 'main' }, { target: 'db-7712' });
  story.call('connect', { target: 'db-7712' }, { error: failure('ToolError', 17, 'no') });
  const found = why(story.fail());
  expect(found.status).toBe('slice');
  expect(found.others[0]).toMatchObject({ step: 4 });
  expect(found.others.every(({ step, score }) => step === 4 || score < 0.3)).toBe(true);
});

test('a value under a name of which results in sight hold only one is held against it', () => {
  const story = new Story('Do the work.');
  story.call('order', { n: 5512 }, 'Order: 5512\nsku: AA-1\nqty: 37\n');
  story.call('ship', { sku: 'AA-1', qty: 40 }, { error: failure('ToolError', 17, 'no') });
  expect(why(story.fail()).cause).toMatchObject({ step: 3, rule: 'born-in-model' });
});

test('skipped-call sees the one left out of a row of calls, and what lies between two ranges', () => {
  const months = (...numbers: number[]): Called[] =>
    numbers.map((month) => [{ month: `2025-0${month}` }, { sum: 100 + month }]);
  expect(steps('skipped-call', told(months(1, 2, 4)))).toEqual([6]);
  expect(steps('skipped-call', told(months(1, 2, 3)))).toEqual([]);
  const lines = (from: number): Called => [{ path: 'b.log', from, to: from + 99 }, `${from}: text\n`];
  expect(steps('skipped-call', told([lines(1), lines(201)]))).toEqual([4]);
  expect(steps('skipped-call', told([lines(1), lines(101)]))).toEqual([]);
});

test('fewer-rows sees a result that is far shorter than its likes, and a row that stands twice', () => {
  const rows = (count: number): Json => Array.from({ length: count }, (_, n) => ({ k: `r${n}`, n }));
  const blocks = (second: number): Called[] =>
    [14, second, 14, 14].map((count, block) => [{ block }, { entries: rows(count) }]);
  expect(steps('fewer-rows', told(blocks(4)))).toEqual([4]);
  expect(steps('fewer-rows', told(blocks(13)))).toEqual([]);
  const row = { id: 'a-1', n: 4 };
  expect(steps('fewer-rows', told([[{}, { rows: [row, { id: 'b-2', n: 5 }, row] }]]))).toEqual([2]);
});

test('swapped sees two figures that have changed places', () => {
  const place = (q: string, lat: number, lon: number): Called => [{ q }, { lat, lon }];
  const calls = (third: Called): Called[] => [
    place('a', 42.4, 112.3),
    place('b', 42.5, 112.4),
    third,
    place('d', 42.7, 113.1),
  ];
  expect(steps('swapped', told(calls(place('c', 112.9, 43.1))))).toEqual([6]);
  expect(steps('swapped', told(calls(place('c', 43.1, 112.9))))).toEqual([]);
});

test('unlike-others sees a page among records', () => {
  const call = (key: string): Called => [{ key }, { key, ref: `r-${key}-77` }];
  const page: Called = [{ key: 'b' }, '<html><body><h1>It works!</h1></body></html>'];
  expect(steps('unlike-others', told([call('a'), page, call('c')]))).toContain(4);
  expect(steps('unlike-others', told([call('a'), call('b'), call('c')]))).toEqual([]);
});

test('born-in-model holds one item of a list against the others, which results hold', () => {
  const story = new Story('Tell the team.');
  story.call('team', {}, { people: ['Ana Ruiz', 'Bo Lind'] });
  story.call('notify', { who: ['Ana Ruiz', 'Dana Cole'] }, { error: failure('ToolError', 17, 'no') });
  expect(why(story.fail()).cause).toMatchObject({ step: 3, rule: 'born-in-model', value: 'Dana Cole' });
});
