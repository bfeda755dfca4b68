import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Deadlines, Link } from './deadlines.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

class Item extends Link {
  readonly name: string;
  constructor(name: string) {
    super();
    this.name = name;
  }
}

function deadlines() {
  const expired: string[] = [];
  const waiting = new Deadlines<Item>((item) => expired.push(item.name));
  const add = (name: string, ms: number): Item => {
    const item = new Item(name);
    waiting.add(item, ms, performance.now());
    return item;
  };
  return { add, waiting, expired };
}

test('each item expires after its own time, in order, and not before', () => {
  const { add, expired } = deadlines();
  add('long', 1000);
  add('short', 10);
  add('also long', 1000);
  vi.advanceTimersByTime(9);
  expect(expired).toEqual([]);
  vi.advanceTimersByTime(2);
  expect(expired).toEqual(['short']);
  add('later', 10);
  vi.advanceTimersByTime(20);
  expect(expired).toEqual(['short', 'later']);
  vi.advanceTimersByTime(1000);
  expect(expired).toEqual(['short', 'later', 'long', 'also long']);
});

test('what is removed does not expire, wherever it stands', () => {
  const { add, waiting, expired } = deadlines();
  const items = ['a', 'b', 'c', 'd'].map((name) => add(name, 50));
  for (const at of [1, 0, 3]) waiting.remove(items[at] as Item);
  waiting.remove(items[1] as Item);
  vi.advanceTimersByTime(100);
  expect(expired).toEqual(['c']);
});

test('one timer serves any number of items, and none is left when nothing waits', () => {
  const { add, waiting } = deadlines();
  const items = Array.from({ length: 1000 }, (_, n) => add(`${n}`, 60_000));
  expect(vi.getTimerCount()).toBe(1);
  for (const item of items) waiting.remove(item);
  vi.advanceTimersByTime(60_001);
  expect(vi.getTimerCount()).toBe(0);
  add('x', 5);
  waiting.close();
  expect(vi.getTimerCount()).toBe(0);
});
