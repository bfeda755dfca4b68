import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Node, resolvePlugins } from './resolver.ts';

function node(
  name: string,
  needs: readonly (string | [string, string] | [string, string, 'optional'])[] = [],
  offers: readonly string[] = [],
): Node {
  return {
    name,
    version: '1.4.0',
    chassis: '*',
    at: `${name}/plugin.yaml:2:10`,
    enabled: true,
    offers,
    depends_on: needs.map((need, i) => {
      const [target, version = '*', optional] = typeof need === 'string' ? [need] : need;
      return {
        on: /^(?:tool|model|agent)\b/.test(target) ? 'capability' : 'plugin',
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

  test('names everyone whose range keeps another version from helping', () => {
    const { refused } = resolvePlugins([
      node('reports', [['database', '^2.0.0']]),
      node('orders', [['database', '^1.0.0']]),
      node('any', ['database']),
      node('database'),
    ]);
    expect(refused.get('reports')).toMatchObject({
      cause: {
        message:
          'reports needs database ^2.0.0 (reports/plugin.yaml:7:5), but database is 1.4.0 (database/plugin.yaml:2:10); no version fits all: orders needs database ^1.0.0 (orders/plugin.yaml:7:5)',
      },
      fix: 'use versions of reports and orders that agree on database',
    });
    expect(refused.has('orders')).toBe(false);
  });

  describe('finds who offers a capability', () => {
    test('and puts the plugin after all of them, though one is enough', () => {
      const { levels, refused } = resolvePlugins([
        node('a', ['model']),
        node('b', ['tool.fetch']),
        node('m1', [], ['model.x']),
        node('m2', ['gone'], ['model.y']),
        node('z', [], ['tool.fetch']),
      ]);
      expect([...refused.keys()]).toEqual(['m2']);
      expect(levels).toEqual([
        ['m1', 'z'],
        ['a', 'b'],
      ]);
    });

    test.each([
      [
        'tool.fetsh',
        'a needs the tool fetsh (a/plugin.yaml:7:5), which no plugin offers; did you mean "tool.fetch"?',
      ],
      ['agent', 'a needs an agent (a/plugin.yaml:7:5), which no plugin offers'],
      ['model', 'a needs a model (a/plugin.yaml:7:5), which only off offers, and that is disabled'],
    ])('or says why nobody does: %s', (capability, message) => {
      const { refused } = resolvePlugins([
        node('a', [capability]),
        node('b', [], ['tool.fetch']),
        { ...node('off', [], ['model.x']), enabled: false },
      ]);
      expect(refused.get('a')?.cause.message).toBe(message);
    });

    test('of a version that fits', () => {
      const { refused } = resolvePlugins([node('a', [['tool.x', '^2.0.0']]), node('b', [], ['tool.x'])]);
      expect(refused.get('a')?.cause.message).toBe(
        'a needs the tool x (version ^2.0.0) (a/plugin.yaml:7:5), but b, which offers it, is 1.4.0 (b/plugin.yaml:2:10)',
      );
    });

    test('and carries on the root cause when every one of them is refused', () => {
      const { refused } = resolvePlugins([
        node('a', ['model.x']),
        node('m', ['gone'], ['model.x']),
        node('n', ['lost'], ['model.x']),
      ]);
      expect(refused.get('a')?.cause.message).toBe(
        'a needs the model x of m or n (a/plugin.yaml:7:5): m needs gone (m/plugin.yaml:7:5), which is not installed',
      );
    });

    test('and takes a circle for none when there is another way out', () => {
      const { levels, refused } = resolvePlugins([
        node('a', ['model.x']),
        node('m', ['a'], ['model.x']),
        node('n', [], ['model.x']),
      ]);
      expect(refused.size).toBe(0);
      expect(levels).toEqual([['n'], ['a'], ['m']]);
    });

    test('and reports a circle through it with who offers what', () => {
      const { refused } = resolvePlugins([node('a', ['model.x']), node('m', ['a'], ['model.x'])]);
      expect(refused.get('m')?.cause.message).toBe(
        'a circle of dependencies: a → m → a: a needs the model x of m (a/plugin.yaml:7:5); m needs a (m/plugin.yaml:7:5)',
      );
    });

    test('and waits for those whose tools only their running code tells', () => {
      const { levels } = resolvePlugins([node('a', ['tool.x']), { ...node('server'), tells: ['tool'] }]);
      expect(levels).toEqual([['server'], ['a']]);
    });
  });

  test('gives up a wish that closes a circle, and no other', () => {
    const wish = (name: string): [string, string, 'optional'] => [name, '*', 'optional'];
    const { levels, refused } = resolvePlugins([
      node('a', [wish('b'), wish('d')]),
      node('b', [wish('c')]),
      node('c', [wish('b')]),
      node('d'),
    ]);
    expect(refused.size).toBe(0);
    expect(levels).toEqual([['c', 'd'], ['b'], ['a']]);
  });

  test('does not depend on the order of its input, and never loads before what is needed', () => {
    const names = ['a', 'b', 'c', 'd', 'e', 'f'];
    // `model.x` is offered by d and e, `tool.y` by b and f: a need with more than one way out.
    const offers: Record<string, string[]> = { b: ['tool.y'], d: ['model.x'], e: ['model.x'], f: ['tool.y'] };
    const targets = [...names, 'model.x', 'tool.y'];
    const graph = fc.array(fc.tuple(fc.constantFrom(...names), fc.constantFrom(...targets), fc.boolean()), {
      maxLength: 14,
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
            offers[name],
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
          for (const { anyOf } of needed) {
            if (!order.includes(name)) continue;
            const before = anyOf.filter((other) => order.slice(0, order.indexOf(name)).includes(other));
            expect(before).not.toEqual([]);
          }
        }
      }),
    );
  });
});
