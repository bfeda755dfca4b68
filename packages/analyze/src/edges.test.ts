import { expect, test } from 'vitest';
import { Story } from '../test/build.ts';
import { edges } from './edges.ts';
import { slice } from './slice.ts';

test('causes and nesting are recorded', () => {
  const story = new Story('x');
  const tool = story.call('outer', { n: 1 }, { ok: true });
  const inner = story.step({ kind: 'tool', name: 'inner', input: {}, output: 1, parent: tool });
  const found = edges(story.end('running'));
  expect(found).toContainEqual(
    expect.objectContaining({ step: tool, on: 1, kind: 'cause', label: 'recorded' }),
  );
  expect(found).toContainEqual(
    expect.objectContaining({ step: inner, on: tool, kind: 'parent', label: 'recorded' }),
  );
});

test('a result that stands whole as a tool message is a recorded data edge, a shortened one is inferred', () => {
  const story = new Story('x');
  const whole = story.call('read', { path: 'a' }, { text: 'all of it' });
  story.model([{ tool: 'read', input: { path: 'b' } }]);
  const part = story.tool(0, { output: { text: 'much more than this' }, message: '{"text":"much …' });
  const found = edges(story.ok()).filter(
    ({ kind, how }) => kind === 'data' && how.includes('/input/messages'),
  );
  expect(found.find(({ on }) => on === whole)).toMatchObject({ step: 3, label: 'recorded' });
  expect(found.find(({ on }) => on === part)).toMatchObject({ step: 5, label: 'inferred' });
});

test('arguments that the model wrote are a recorded data edge only when the tool was given just these', () => {
  const story = new Story('x');
  const same = story.call('set', { limit: 5 }, { ok: true });
  story.model([{ tool: 'set', input: { limit: 5 } }]);
  const changed = story.tool(0, { output: { ok: true } });
  const step = story.steps[changed - 1];
  if (step) step.input = { limit: 6 };
  const found = edges(story.end('running')).filter(({ how }) => how.startsWith('/input is'));
  expect(found.map(({ step: number }) => number)).toEqual([same]);
});

test('a value that a model wrote and an earlier result holds is an inferred edge', () => {
  const story = new Story('x');
  const first = story.call('list', {}, { orders: [{ id: 'A-1001-77' }] });
  const use = story.call('get', { id: 'A-1001-77' }, { ok: true });
  const found = edges(story.ok()).filter(({ label, kind }) => label === 'inferred' && kind === 'data');
  expect(found).toMatchObject([{ step: use - 1, on: first }]);
});

test('a slice holds what led to a step and nothing else', () => {
  const story = new Story('x');
  const a = story.step({ kind: 'tool', name: 'a', input: {}, output: 1 });
  const b = story.step({ kind: 'tool', name: 'b', input: {}, output: 2 });
  const c = story.step({ kind: 'tool', name: 'c', input: {}, output: 3, causes: [a] });
  const view = story.end('running');
  expect(slice(view, c)).toEqual([a, c]);
  expect(slice(view, b)).toEqual([b]);
  expect(slice(view, 99)).toEqual([]);
});
