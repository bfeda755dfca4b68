import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Node, resolvePlugins } from './resolver.ts';

function node(
  name: string,
  needs: readonly (string | [string, string] | [string, string, 'optional'])[] = [],
): Node {
  return {
    name,
    version: '1.4.0',
    chassis: '*',
    at: `${name}/plugin.yaml:2:10`,
    enabled: true,
    depends_on: needs.map((need, i) => {
      const [target, version = '*', optional] = typeof need === 'string' ? [need] : need;
      return {
        name: target,
        version,
        optional: optional !== undefined,
        at: `${name}/plugin.yaml:${7 + i}:5`,
      };
    }),
  };
}

describe('the resolver', () => {
  test('puts each plugin after what it needs, and beside what it does not', () => {
    const { levels } = resolvePlugins([node('c', ['b', 'a']), node('b', ['a']), node('a'), node('x')]);
    expect(levels).toEqual([['a', 'x'], ['b'], ['c']]);
  });

  test('explains a version that does not fit with both places', () => {
    const { refused } = resolvePlugins([node('reports', [['database', '^2.0.0']]), node('database')]);
    expect(refused.get('reports')?.cause.message).toBe(
      'reports needs database ^2.0.0 (reports/plugin.yaml:7:5), but database is 1.4.0 (database/plugin.yaml:2:10)',
    );
  });

  test('reports a circle whole, with the place of each edge', () => {
    const { refused, levels } = resolvePlugins([
      node('b', ['c']),
      node('c', ['a']),
      node('a', ['b']),
      node('d'),
    ]);
    const message =
      'a circle of dependencies: a → b → c → a: a needs b (a/plugin.yaml:7:5); b needs c (b/plugin.yaml:7:5); c needs a (c/plugin.yaml:7:5)';
    for (const name of ['a', 'b', 'c']) expect(refused.get(name)?.cause.message).toBe(message);
    expect(levels).toEqual([['d']]);
  });

  test('carries the root cause to everyone who needs a refused plugin', () => {
    const { refused } = resolvePlugins([
      node('top', ['middle']),
      node('middle', ['databse']),
      node('database'),
    ]);
    expect(refused.get('top')?.cause.message).toBe(
      'top needs middle (top/plugin.yaml:7:5): middle needs databse (middle/plugin.yaml:7:5), which is not installed; did you mean "database"?',
    );
  });

  test('lets an optional dependency be absent, unfit, or part of a circle', () => {
    const { levels, refused } = resolvePlugins([
      node('a', [
        ['gone', '*', 'optional'],
        ['b', '^9.0.0', 'optional'],
        ['c', '*', 'optional'],
      ]),
      node('b'),
      node('c', ['a']),
    ]);
    expect(refused.size).toBe(0);
    expect(levels).toEqual([['a', 'b'], ['c']]);
  });

  test('orders after an optional dependency that is there', () => {
    expect(resolvePlugins([node('a', [['b', '*', 'optional']]), node('b')]).levels).toEqual([['b'], ['a']]);
  });

  test('names a dependency that is disabled, and a framework that does not fit', () => {
    const { refused } = resolvePlugins([
      node('a', ['b']),
      { ...node('b'), enabled: false },
      { ...node('old'), chassis: '>=9' },
    ]);
    expect(refused.get('a')?.cause.message).toContain('which is disabled');
    expect(refused.get('old')?.cause.message).toContain('works with chassis >=9');
  });

  test('resolves a chain of two thousand', () => {
    const chain = Array.from({ length: 2000 }, (_, i) => node(`p${i}`, i === 0 ? [] : [`p${i - 1}`]));
    expect(resolvePlugins(chain).levels).toHaveLength(2000);
  });

  test('does not depend on the order of its input, and never loads before what is needed', () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f'];
    const graph = fc.array(fc.tuple(fc.constantFrom(...names), fc.constantFrom(...names), fc.boolean()), {
      maxLength: 12,
    });
    fc.assert(
      fc.property(graph, fc.array(fc.nat(), { minLength: 6, maxLength: 6 }), (edges, keys) => {
        const nodes = names.map((name) =>
          node(
            name,
            edges
              .filter(
                ([from, to], i) =>
                  from === name && to !== name && edges.findIndex((e) => e[0] === from && e[1] === to) === i,
              )
              .map(([, to, optional]) => (optional ? [to, '*', 'optional'] : to)),
          ),
        );
        const shuffled = nodes
          .map((item, i) => ({ item, key: keys[i] ?? 0 }))
          .toSorted((a, b) => a.key - b.key);
        const one = resolvePlugins(nodes);
        const two = resolvePlugins(shuffled.map(({ item }) => item));
        expect(two.levels).toEqual(one.levels);
        expect([...two.refused.keys()].toSorted()).toEqual([...one.refused.keys()].toSorted());
        const order = one.levels.flat();
        expect(order.length + one.refused.size).toBe(names.length);
        for (const [name, needed] of one.needs) {
          for (const other of needed) {
            if (order.includes(name)) expect(order.indexOf(other)).toBeLessThan(order.indexOf(name));
          }
        }
      }),
    );
  });
});
