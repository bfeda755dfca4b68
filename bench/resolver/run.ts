/**
 * How long the resolver takes for 1,000 plugins: `node bench/resolver/run.ts [--plugins N] [--rounds N] [--json]`.
 *
 * The floor beside it sorts the same edges topologically and nothing else: no ranges, no providers, no reasons. Figures are
 * CPU time, medians over the rounds, with `first` the very first call of the process.
 */
import { parseArgs } from 'node:util';
import { type Node, resolvePlugins } from '../../packages/runtime/src/plugin/resolver.ts';

const { values: given } = parseArgs({
  options: {
    plugins: { type: 'string', default: '1000' },
    rounds: { type: 'string', default: '30' },
    json: { type: 'boolean', default: false },
  },
});
const count = Number(given.plugins);
const rounds = Number(given.rounds);

function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return state / 2_147_483_648;
  };
}

const name = (i: number): string => `p${String(i).padStart(5, '0')}`;

/** Each needs up to three plugins, half of them also a tool or a model, a third would like one more. */
function healthy(): Node[] {
  const next = random(1);
  const below = (i: number): number => Math.floor(next() * i);
  return Array.from({ length: count }, (_, i) => {
    const edges: Node['depends_on'][number][] = [];
    const edge = (on: 'plugin' | 'capability', target: string, version = '*', optional = false): void => {
      if (edges.some((one) => one.name === target)) return;
      edges.push({ on, name: target, version, optional, at: `${name(i)}/plugin.yaml:${7 + edges.length}:5` });
    };
    if (i > 0) for (let k = below(4); k > 0; k--) edge('plugin', name(below(i)), '^1.0.0');
    if (i > 50 && next() < 0.5) edge('capability', next() < 0.5 ? 'model' : `tool.t${below(50)}`);
    if (next() < 0.33) edge('plugin', name(below(count)), '*', true);
    return {
      name: name(i),
      version: `1.${below(9)}.0`,
      chassis: '>=0.1 <1',
      at: `${name(i)}/plugin.yaml:2:10`,
      depends_on: edges.filter((one) => one.name !== name(i)),
      offers: [`tool.t${i % 50}`, `tool.u${i}`, ...(i % 200 === 0 ? [`model.m${i}`] : [])].slice(
        i < 50 ? 0 : 1,
      ),
      enabled: true,
    };
  });
}

/** One circle through all of them. */
function circle(nodes: readonly Node[]): Node[] {
  return nodes.map((node, i) => ({
    ...node,
    depends_on: [
      {
        on: 'plugin',
        name: name((i + 1) % count),
        version: '*',
        optional: false,
        at: `${name(i)}/plugin.yaml:7:5`,
      },
    ],
  }));
}

/** The one that everybody needs, directly or not, has another version. */
function conflict(nodes: readonly Node[]): Node[] {
  return nodes.map((node, i) => ({
    ...node,
    depends_on:
      i === 0
        ? []
        : [
            {
              on: 'plugin',
              name: name(Math.floor(i / 2)),
              version: i === 1 ? '^9' : '^1',
              optional: false,
              at: 'x:1:1',
            },
          ],
  }));
}

function floor(nodes: readonly Node[]): number {
  const known = new Set(nodes.map((node) => node.name));
  const open = new Map<string, number>();
  const neededBy = new Map<string, string[]>();
  for (const node of nodes) {
    const edges = node.depends_on.filter((edge) => !edge.optional && known.has(edge.name));
    open.set(node.name, edges.length);
    for (const edge of edges) neededBy.set(edge.name, [...(neededBy.get(edge.name) ?? []), node.name]);
  }
  const queue = [...open].filter(([, left]) => left === 0).map(([one]) => one);
  for (let at = 0; at < queue.length; at++)
    for (const other of neededBy.get(queue[at] ?? '') ?? []) {
      const left = (open.get(other) ?? 0) - 1;
      open.set(other, left);
      if (left === 0) queue.push(other);
    }
  return queue.length;
}

function cpu(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

const graph = healthy();
const shapes: Record<string, Node[]> = { healthy: graph, circle: circle(graph), conflict: conflict(graph) };
const figures = Object.entries(shapes).map(([shape, nodes]) => {
  const first = cpu(() => resolvePlugins(nodes));
  const times = Array.from({ length: rounds }, () => cpu(() => resolvePlugins(nodes)));
  const least = Array.from({ length: rounds }, () => cpu(() => floor(nodes)));
  const { levels, refused } = resolvePlugins(nodes);
  return {
    shape,
    plugins: count,
    edges: nodes.reduce((sum, node) => sum + node.depends_on.length, 0),
    levels: levels.length,
    refused: refused.size,
    first_ms: Number(first.toFixed(1)),
    ms: Number(median(times).toFixed(2)),
    floor_ms: Number(median(least).toFixed(2)),
  };
});
if (given.json) console.log(JSON.stringify(figures));
else console.table(figures);
