/**
 * The order in which plugins can load, and why some cannot.
 *
 * Promise: pure, independent of the order of its input, linear in plugins and edges. A plugin that cannot load
 * is explained with the place of every edge that matters; it takes with it only those that need it.
 */
import { ChassisError } from '@chassis/errors';
import { nearest } from '@chassis/schema';
import semver from 'semver';
import { CHASSIS_VERSION } from '../version.ts';
import type { Dependency } from './manifest.ts';

export interface Node {
  readonly name: string;
  readonly version: string;
  /** Range of framework versions, with its place. */
  readonly chassis: string;
  readonly at: string;
  readonly depends_on: readonly Dependency[];
  readonly enabled: boolean;
}

export interface Refusal {
  readonly cause: ChassisError;
  readonly fix: string;
}

export interface Resolution {
  /** Plugins by level: each needs only those of earlier levels. */
  readonly levels: readonly (readonly string[])[];
  /** For each plugin that may load, the names it waits for, optional ones included. */
  readonly waits: ReadonlyMap<string, readonly string[]>;
  /** Those of `waits` that must be active. */
  readonly needs: ReadonlyMap<string, readonly string[]>;
  readonly refused: ReadonlyMap<string, Refusal>;
}

export function resolvePlugins(nodes: readonly Node[]): Resolution {
  const sorted = nodes.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const byName = new Map(sorted.map((node) => [node.name, node]));
  const refused = new Map<string, Refusal>();
  const needs = new Map<string, string[]>();
  const wishes = new Map<string, string[]>();

  for (const node of sorted) {
    if (!node.enabled) continue;
    needs.set(node.name, []);
    wishes.set(node.name, []);
    if (!semver.satisfies(CHASSIS_VERSION, node.chassis, { includePrerelease: true })) {
      refused.set(node.name, wrongFramework(node));
    }
    for (const edge of node.depends_on) {
      const problem = edgeProblem(node, edge, byName);
      if (problem === undefined) (edge.optional ? wishes : needs).get(node.name)?.push(edge.name);
      else if (!edge.optional) refused.set(node.name, problem);
    }
  }
  for (const cycle of cycles(needs)) {
    const refusal = cycleRefusal(cycle, byName);
    for (const name of cycle) refused.set(name, refusal);
  }
  spread(sorted, needs, refused);

  const waits = new Map<string, string[]>();
  for (const [name, needed] of needs) {
    if (!refused.has(name)) waits.set(name, [...needed]);
  }
  // An optional edge only orders; one that would close a circle is given up.
  for (const [name, wished] of wishes) {
    for (const other of wished) {
      if (waits.has(name) && waits.has(other) && !reaches(waits, other, name)) waits.get(name)?.push(other);
    }
  }
  return { levels: levelsOf(waits), waits, needs, refused };
}

function edgeProblem(node: Node, edge: Dependency, byName: ReadonlyMap<string, Node>): Refusal | undefined {
  const target = byName.get(edge.name);
  const wanted = edge.version === '*' ? edge.name : `${edge.name} ${edge.version}`;
  if (target === undefined) {
    const near = nearest(edge.name, byName.keys());
    return refusal(
      `${node.name} needs ${wanted} (${edge.at}), which is not installed${near ? `; did you mean "${near}"?` : ''}`,
      `install ${edge.name}, or mark the dependency optional`,
    );
  }
  if (!target.enabled) {
    return refusal(
      `${node.name} needs ${wanted} (${edge.at}), which is disabled`,
      `enable plugins.${edge.name}, or disable ${node.name}`,
    );
  }
  if (!semver.satisfies(target.version, edge.version, { includePrerelease: true })) {
    return refusal(
      `${node.name} needs ${wanted} (${edge.at}), but ${edge.name} is ${target.version} (${target.at})`,
      `install ${edge.name} ${edge.version}`,
    );
  }
  return undefined;
}

function wrongFramework(node: Node): Refusal {
  return refusal(
    `${node.name} works with chassis ${node.chassis} (${node.at}), but this is ${CHASSIS_VERSION}`,
    `install a version of ${node.name} for chassis ${CHASSIS_VERSION}`,
  );
}

function cycleRefusal(cycle: readonly string[], byName: ReadonlyMap<string, Node>): Refusal {
  const steps = cycle.map((name, i) => {
    const next = cycle[(i + 1) % cycle.length] ?? name;
    const edge = byName.get(name)?.depends_on.find((item) => item.name === next && !item.optional);
    return `${name} needs ${next} (${edge?.at ?? '?'})`;
  });
  return refusal(
    `a circle of dependencies: ${[...cycle, cycle[0]].join(' → ')}: ${steps.join('; ')}`,
    'remove one of these dependencies, or mark it optional',
  );
}

function refusal(message: string, fix: string): Refusal {
  return { cause: new ChassisError('Unavailable', message, { data: { fix } }), fix };
}

/** Whoever needs a refused plugin is refused with the same root cause. */
function spread(
  sorted: readonly Node[],
  needs: ReadonlyMap<string, string[]>,
  refused: Map<string, Refusal>,
): void {
  const neededBy = new Map<string, Node[]>();
  for (const node of sorted) {
    for (const name of needs.get(node.name) ?? []) {
      const list = neededBy.get(name);
      if (list === undefined) neededBy.set(name, [node]);
      else list.push(node);
    }
  }
  const queue = [...refused.keys()];
  for (let name = queue.shift(); name !== undefined; name = queue.shift()) {
    const root = refused.get(name);
    for (const node of neededBy.get(name) ?? []) {
      if (root === undefined || refused.has(node.name)) continue;
      const at = node.depends_on.find((edge) => edge.name === name)?.at ?? node.at;
      refused.set(node.name, refusal(`${node.name} needs ${name} (${at}): ${root.cause.message}`, root.fix));
      queue.push(node.name);
    }
  }
}

/** One circle of each strongly connected part, each beginning with its smallest name. */
function cycles(edges: ReadonlyMap<string, readonly string[]>): string[][] {
  const found: string[][] = [];
  const state = new Map<string, 'open' | 'done'>();
  for (const start of edges.keys()) {
    if (state.has(start)) continue;
    const path: string[] = [];
    // Depth first with an explicit stack: a chain of thousands must not exhaust the call stack.
    const stack: { name: string; next: number }[] = [{ name: start, next: 0 }];
    state.set(start, 'open');
    path.push(start);
    while (stack.length > 0) {
      const top = stack.at(-1);
      if (top === undefined) break;
      const target = edges.get(top.name)?.[top.next++];
      if (target === undefined) {
        state.set(top.name, 'done');
        stack.pop();
        path.pop();
      } else if (state.get(target) === 'open') {
        found.push(turned(path.slice(path.indexOf(target))));
      } else if (!state.has(target)) {
        state.set(target, 'open');
        path.push(target);
        stack.push({ name: target, next: 0 });
      }
    }
  }
  return found;
}

function turned(cycle: readonly string[]): string[] {
  const least = cycle.indexOf(cycle.toSorted()[0] ?? '');
  return [...cycle.slice(least), ...cycle.slice(0, least)];
}

function reaches(edges: ReadonlyMap<string, readonly string[]>, from: string, to: string): boolean {
  const seen = new Set<string>([from]);
  const queue = [from];
  for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
    if (name === to) return true;
    for (const next of edges.get(name) ?? []) {
      if (!seen.has(next)) {
        seen.add(next);
        queue.push(next);
      }
    }
  }
  return false;
}

function levelsOf(waits: ReadonlyMap<string, readonly string[]>): string[][] {
  const waitedBy = new Map<string, string[]>();
  const open = new Map<string, number>();
  for (const [name, others] of waits) {
    open.set(name, others.length);
    for (const other of others) {
      const list = waitedBy.get(other);
      if (list === undefined) waitedBy.set(other, [name]);
      else list.push(name);
    }
  }
  const levels: string[][] = [];
  let level = [...open].filter(([, count]) => count === 0).map(([name]) => name);
  while (level.length > 0) {
    levels.push(level);
    const next: string[] = [];
    for (const name of level) {
      for (const waiting of waitedBy.get(name) ?? []) {
        const left = (open.get(waiting) ?? 0) - 1;
        open.set(waiting, left);
        if (left === 0) next.push(waiting);
      }
    }
    level = next.toSorted();
  }
  return levels;
}
