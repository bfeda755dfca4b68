/**
 * In which order plugins can load, given what each needs and what it would like to come after.
 *
 * Promise: pure, linear in plugins and edges, independent of the order of its input. A need may have several
 * providers: one that can load is enough, so a circle that has another way out is none.
 */

/** What must be there before a plugin loads: any one of the providers. */
export interface Need {
  readonly anyOf: readonly string[];
}

export interface Wanting<N extends Need = Need> {
  readonly needs: readonly N[];
  /** Plugins that come first if they can; one that would close a circle is given up. */
  readonly wishes: readonly string[];
}

/** @returns names that can load, each after one provider of every need of it; `excluded` never can */
export function reachable(
  graph: ReadonlyMap<string, Wanting>,
  excluded: ReadonlyMap<string, unknown>,
): string[] {
  const open = new Map<string, number>();
  const waiting = new Map<string, { readonly name: string; done: boolean }[]>();
  const queue: string[] = [];
  for (const [name, { needs }] of graph) {
    if (excluded.has(name)) continue;
    open.set(name, needs.length);
    if (needs.length === 0) queue.push(name);
    for (const { anyOf } of needs) {
      const group = { name, done: false };
      for (const provider of anyOf) push(waiting, provider, group);
    }
  }
  for (let at = 0; at < queue.length; at++) {
    for (const group of waiting.get(queue[at] ?? '') ?? []) {
      if (group.done) continue;
      group.done = true;
      const left = (open.get(group.name) ?? 0) - 1;
      open.set(group.name, left);
      if (left === 0) queue.push(group.name);
    }
  }
  return queue;
}

/**
 * For each plugin that can load, the others that it waits for: providers of its needs, and what it wishes for,
 * without those that would close a circle.
 *
 * @param order as `reachable` gave it
 */
export function waitsOf(
  graph: ReadonlyMap<string, Wanting>,
  order: readonly string[],
): ReadonlyMap<string, readonly string[]> {
  const rank = new Map(order.map((name, at) => [name, at]));
  const waits = new Map<string, Set<string>>();
  /** Those of `waits` that may be given up: at least one provider of each need must stay. */
  const soft = new Map<string, Set<string>>();
  for (const name of order) {
    const { needs = [], wishes = [] } = graph.get(name) ?? {};
    const all = new Set<string>();
    const more = new Set(wishes.filter((other) => rank.has(other) && other !== name));
    for (const { anyOf } of needs) {
      const first = earliest(anyOf, rank);
      if (first !== undefined) all.add(first);
      if (anyOf.length > 1) for (const other of anyOf) if (rank.has(other)) more.add(other);
    }
    for (const other of more)
      if (all.has(other)) more.delete(other);
      else all.add(other);
    waits.set(name, all);
    soft.set(name, more);
  }
  cutCircles(waits, soft);
  return new Map([...waits].map(([name, others]) => [name, [...others]]));
}

/** Takes plugins away in an order that loads them; where only a circle is left, gives up one wish on it. */
function cutCircles(waits: ReadonlyMap<string, Set<string>>, soft: ReadonlyMap<string, Set<string>>): void {
  const open = new Map([...waits].map(([name, others]) => [name, others.size]));
  const waitedBy = new Map<string, string[]>();
  for (const [name, others] of waits) for (const other of others) push(waitedBy, other, name);
  const queue = [...open].filter(([, left]) => left === 0).map(([name]) => name);
  const free = (name: string): void => {
    const left = (open.get(name) ?? 0) - 1;
    open.set(name, left);
    if (left === 0) queue.push(name);
  };
  for (;;) {
    for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
      open.delete(name);
      for (const waiting of waitedBy.get(name) ?? []) if (waits.get(waiting)?.has(name)) free(waiting);
    }
    const [start] = open.keys();
    if (start === undefined) return;
    const circle = circleFrom(start, (name) => least(waits.get(name), open));
    // The hard edges alone have no circle, so one of these is a wish.
    const [from, to] =
      circle
        .map((name, at) => [name, circle[(at + 1) % circle.length] ?? name] as const)
        .filter(([name, other]) => soft.get(name)?.has(other))
        .toSorted(([a], [b]) => (a < b ? 1 : -1))[0] ?? [];
    if (from === undefined || to === undefined) return;
    waits.get(from)?.delete(to);
    free(from);
  }
}

/** Follows one edge of each from `start` until a name comes back. Every name must have an edge. */
export function circleFrom(start: string, next: (name: string) => string | undefined): string[] {
  const seen = new Map<string, number>();
  const path: string[] = [];
  for (let name: string | undefined = start; name !== undefined; name = next(name)) {
    const at = seen.get(name);
    if (at !== undefined) return turned(path.slice(at));
    seen.set(name, path.length);
    path.push(name);
  }
  return [];
}

/** The same circle, beginning with its smallest name. */
function turned(circle: readonly string[]): string[] {
  const first = circle.indexOf(circle.toSorted()[0] ?? '');
  return [...circle.slice(first), ...circle.slice(0, first)];
}

/** Each level waits only for earlier ones. */
export function levelsOf(waits: ReadonlyMap<string, readonly string[]>): string[][] {
  const waitedBy = new Map<string, string[]>();
  const open = new Map<string, number>();
  for (const [name, others] of waits) {
    open.set(name, others.length);
    for (const other of others) push(waitedBy, other, name);
  }
  const levels: string[][] = [];
  let level = [...open].filter(([, count]) => count === 0).map(([name]) => name);
  while (level.length > 0) {
    levels.push(level.toSorted());
    const next: string[] = [];
    for (const name of level) {
      for (const waiting of waitedBy.get(name) ?? []) {
        const left = (open.get(waiting) ?? 0) - 1;
        open.set(waiting, left);
        if (left === 0) next.push(waiting);
      }
    }
    level = next;
  }
  return levels;
}

function least(names: ReadonlySet<string> | undefined, of: ReadonlyMap<string, unknown>): string | undefined {
  let found: string | undefined;
  for (const name of names ?? []) if (of.has(name) && (found === undefined || name < found)) found = name;
  return found;
}

function earliest(names: readonly string[], rank: ReadonlyMap<string, number>): string | undefined {
  let found: string | undefined;
  let first = Number.POSITIVE_INFINITY;
  for (const name of names) {
    const at = rank.get(name);
    if (at === undefined || at >= first) continue;
    found = name;
    first = at;
  }
  return found;
}

function push<V>(map: Map<string, V[]>, key: string, value: V): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}
