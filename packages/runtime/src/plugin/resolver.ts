/**
 * Which plugins can load, in which order, and why some cannot.
 *
 * Promise: pure, independent of the order of its input, linear in plugins and edges. A plugin that cannot load
 * is explained with the place of every edge that matters; it takes with it only those that need it.
 */
import { ChassisError } from '@chassis/errors';
import { nearest } from '@chassis/schema';
import satisfies from 'semver/functions/satisfies.js';
import intersects from 'semver/ranges/intersects.js';
import { CHASSIS_VERSION } from '../version.ts';
import {
  circleFrom,
  levelsOf,
  type Need as Providers,
  reachable,
  type Wanting,
  waitsOf,
} from './load-order.ts';
import type { Dependency } from './manifest.ts';

export interface Node {
  readonly name: string;
  readonly version: string;
  /** Range of framework versions, with its place. */
  readonly chassis: string;
  readonly at: string;
  readonly depends_on: readonly Dependency[];
  /** Capabilities that it offers by its manifest: `tool.fetch_orders`, `model.deepseek`. */
  readonly offers: readonly string[];
  /** Kinds of capability whose names only its running code tells, as the tools of an MCP server. */
  readonly tells?: readonly string[];
  readonly enabled: boolean;
}

export interface Refusal {
  readonly cause: ChassisError;
  readonly fix: string;
}

/** One thing that a plugin cannot do without. */
export interface Need extends Providers {
  readonly edge: Dependency;
}

export interface Resolution {
  /** Plugins by level: each needs only those of earlier levels. */
  readonly levels: readonly (readonly string[])[];
  /** For each plugin that may load, the names it waits for, optional ones included. */
  readonly waits: ReadonlyMap<string, readonly string[]>;
  /** What must be there for each enabled plugin, by any one of several providers. */
  readonly needs: ReadonlyMap<string, readonly Need[]>;
  readonly refused: ReadonlyMap<string, Refusal>;
}

export function resolvePlugins(nodes: readonly Node[]): Resolution {
  const sorted = nodes.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const known = index(sorted);
  const refused = new Map<string, Refusal>();
  const graph = new Map<string, Wanting<Need>>();

  for (const node of sorted) {
    if (!node.enabled) continue;
    const needs: Need[] = [];
    const wishes: string[] = [];
    graph.set(node.name, { needs, wishes });
    if (!fits(CHASSIS_VERSION, node.chassis)) refused.set(node.name, wrongFramework(node));
    for (const edge of node.depends_on) {
      const found = providersOf(node, edge, known);
      if (edge.optional) wishes.push(...('anyOf' in found ? found.anyOf : []));
      else if ('anyOf' in found) needs.push({ edge, anyOf: found.anyOf });
      else if (!refused.has(node.name)) refused.set(node.name, found);
    }
  }
  const order = refuseUnreachable(graph, refused);
  const waits = waitsOf(graph, order);
  const needs = new Map([...graph].map(([name, wanting]) => [name, wanting.needs]));
  return { levels: levelsOf(waits), waits, needs, refused };
}

/** What an edge asks for, in words: `database ^2.0.0`, `the tool fetch_orders`, `a model`. */
export function wanted({ on, name, version }: Dependency): string {
  const range = version === '*' ? '' : ` ${version}`;
  if (on === 'plugin') return `${name}${range}`;
  const dot = name.indexOf('.');
  const what =
    dot < 0
      ? `${/^[aeiou]/.test(name) ? 'an' : 'a'} ${name}`
      : `the ${name.slice(0, dot)} ${name.slice(dot + 1)}`;
  return version === '*' ? what : `${what} (version ${version})`;
}

/** What everybody is asked for, looked up once. */
interface Known {
  readonly byName: ReadonlyMap<string, Node>;
  readonly byCapability: ReadonlyMap<string, readonly Node[]>;
  /** Who can serve a capability in a version, filled as it is asked for: many need the same. */
  readonly able: Map<string, readonly string[]>;
  /** Needed as a plugin, by name: every edge, optional ones too. */
  readonly asked: ReadonlyMap<string, readonly { readonly node: Node; readonly edge: Dependency }[]>;
}

function index(nodes: readonly Node[]): Known {
  const byCapability = new Map<string, Node[]>();
  const asked = new Map<string, { node: Node; edge: Dependency }[]>();
  for (const node of nodes) {
    for (const name of node.offers) {
      offer(byCapability, name, node);
      offer(byCapability, name.slice(0, name.indexOf('.')), node);
    }
    for (const kind of node.tells ?? []) {
      offer(byCapability, kind, node);
      offer(byCapability, `${kind}.*`, node);
    }
    if (!node.enabled) continue;
    for (const edge of node.depends_on) if (edge.on === 'plugin') list(asked, edge.name).push({ node, edge });
  }
  return { byName: new Map(nodes.map((node) => [node.name, node])), byCapability, able: new Map(), asked };
}

/** Each node once, and one after another: the last is the only one that may be there already. */
function offer(byCapability: Map<string, Node[]>, name: string, node: Node): void {
  const nodes = list(byCapability, name);
  if (nodes.at(-1) !== node) nodes.push(node);
}

function providersOf(node: Node, edge: Dependency, known: Known): Providers | Refusal {
  return edge.on === 'plugin' ? pluginFor(node, edge, known) : offering(node, edge, known);
}

function pluginFor(node: Node, edge: Dependency, { byName, asked }: Known): Providers | Refusal {
  const target = byName.get(edge.name);
  if (target?.enabled && fits(target.version, edge.version)) return { anyOf: [edge.name] };
  const needs = needsText(node, edge);
  if (target === undefined) {
    const near = nearest(edge.name, byName.keys());
    return refusal(
      `${needs}, which is not installed${near ? `; did you mean "${near}"?` : ''}`,
      `install ${edge.name}, or mark the dependency optional`,
    );
  }
  if (!target.enabled)
    return refusal(`${needs}, which is disabled`, `enable plugins.${edge.name}, or disable ${node.name}`);
  const message = `${needs}, but ${edge.name} is ${target.version} (${target.at})`;
  // Another version would only move the trouble when somebody else cannot take it.
  const against = (asked.get(edge.name) ?? []).filter(
    ({ node: other, edge: wish }) => other !== node && !intersects(wish.version, edge.version),
  );
  if (against.length === 0) return refusal(message, `install ${edge.name} ${edge.version}`);
  const others = against.map(
    ({ node: other, edge: wish }) => `${other.name} needs ${wanted(wish)} (${wish.at})`,
  );
  return refusal(
    `${message}; no version fits all: ${others.join('; ')}`,
    `use versions of ${[node, ...against.map((one) => one.node)].map(({ name }) => name).join(' and ')} that agree on ${edge.name}`,
  );
}

function offering(node: Node, edge: Dependency, known: Known): Providers | Refusal {
  const able = ableTo(edge, known);
  const others = able.includes(node.name) ? able.filter((name) => name !== node.name) : able;
  if (others.length > 0) return { anyOf: others };
  const { byCapability } = known;
  const named = byCapability.get(edge.name) ?? [];
  const needs = needsText(node, edge);
  const off = named.find((one) => one !== node && !one.enabled && fits(one.version, edge.version));
  if (off !== undefined)
    return refusal(
      `${needs}, which only ${off.name} offers, and that is disabled`,
      `enable plugins.${off.name}, or disable ${node.name}`,
    );
  const [wrong] = named.filter((one) => one !== node && one.enabled);
  if (wrong !== undefined)
    return refusal(
      `${needs}, but ${wrong.name}, which offers it, is ${wrong.version} (${wrong.at})`,
      `install ${wrong.name} ${edge.version}`,
    );
  const near = nearest(edge.name, byCapability.keys());
  return refusal(
    `${needs}, which no plugin offers${near ? `; did you mean "${near}"?` : ''}`,
    `install a plugin that offers ${wanted({ ...edge, version: '*' })}, or mark the dependency optional`,
  );
}

/** Who can serve a capability: whoever offers it by name, and whoever tells what it offers only once it runs. */
function ableTo({ name, version }: Dependency, { byCapability, able }: Known): readonly string[] {
  const key = `${name} ${version}`;
  let names = able.get(key);
  if (names === undefined) {
    const dot = name.indexOf('.');
    const named = byCapability.get(name) ?? [];
    const telling = dot < 0 ? [] : (byCapability.get(`${name.slice(0, dot)}.*`) ?? []);
    const all = telling.length === 0 ? named : new Set([...named, ...telling]);
    names = [...all].filter((one) => one.enabled && fits(one.version, version)).map((one) => one.name);
    able.set(key, names);
  }
  return names;
}

function needsText(node: Node, edge: Dependency): string {
  return `${node.name} needs ${wanted(edge)} (${edge.at})`;
}

/** Refuses whoever cannot be reached, each with the root cause. @returns the others, in an order that can be loaded */
function refuseUnreachable(
  graph: ReadonlyMap<string, Wanting<Need>>,
  refused: Map<string, Refusal>,
): string[] {
  const order = reachable(graph, refused);
  const left = new Set(graph.keys());
  for (const name of order) left.delete(name);
  for (const name of refused.keys()) left.delete(name);
  spread(graph, refused, left, [...refused.keys()]);
  // Who is left needs somebody who is left, and that goes round.
  for (let [start] = left; start !== undefined; [start] = left) {
    const circle = circleFrom(start, (name) => blockedBy(graph.get(name), left, refused)?.provider);
    const cause = circleRefusal(circle, (name) => blockedBy(graph.get(name), left, refused));
    for (const name of circle) {
      refused.set(name, cause);
      left.delete(name);
    }
    spread(graph, refused, left, circle);
  }
  return order;
}

/** The first need that keeps a plugin from loading, and a provider of it that waits itself. */
function blockedBy(
  wanting: Wanting<Need> | undefined,
  left: ReadonlySet<string>,
  refused: ReadonlyMap<string, Refusal>,
): { readonly edge: Dependency; readonly provider: string } | undefined {
  for (const { edge, anyOf } of wanting?.needs ?? []) {
    const provider = anyOf.find((name) => left.has(name));
    const blocking = anyOf.every((name) => left.has(name) || refused.has(name));
    if (blocking && provider !== undefined) return { edge, provider };
  }
  return undefined;
}

/** Whoever has a need all of whose providers are refused is refused with the same root cause. */
function spread(
  graph: ReadonlyMap<string, Wanting<Need>>,
  refused: Map<string, Refusal>,
  left: Set<string>,
  from: readonly string[],
): void {
  const neededBy = new Map<string, Set<string>>();
  for (const name of left)
    for (const { anyOf } of graph.get(name)?.needs ?? [])
      for (const provider of anyOf) (neededBy.get(provider) ?? set(neededBy, provider)).add(name);
  const queue = [...from];
  for (let at = 0; at < queue.length; at++) {
    for (const name of neededBy.get(queue[at] ?? '') ?? []) {
      if (!left.has(name)) continue;
      const lost = graph.get(name)?.needs.find(({ anyOf }) => anyOf.every((one) => refused.has(one)));
      const root = refused.get(lost?.anyOf[0] ?? '');
      if (lost === undefined || root === undefined) continue;
      const of = lost.edge.on === 'plugin' ? '' : ` of ${lost.anyOf.join(' or ')}`;
      refused.set(
        name,
        refusal(`${name} needs ${wanted(lost.edge)}${of} (${lost.edge.at}): ${root.cause.message}`, root.fix),
      );
      left.delete(name);
      queue.push(name);
    }
  }
}

function wrongFramework(node: Node): Refusal {
  return refusal(
    `${node.name} works with chassis ${node.chassis} (${node.at}), but this is ${CHASSIS_VERSION}`,
    `install a version of ${node.name} for chassis ${CHASSIS_VERSION}`,
  );
}

function circleRefusal(
  circle: readonly string[],
  blocked: (name: string) => ReturnType<typeof blockedBy>,
): Refusal {
  const steps = circle.map((name) => {
    const { edge, provider } = blocked(name) ?? {};
    if (edge === undefined) return name;
    return `${name} needs ${wanted(edge)}${edge.on === 'plugin' ? '' : ` of ${provider}`} (${edge.at})`;
  });
  return refusal(
    `a circle of dependencies: ${[...circle, circle[0]].join(' → ')}: ${steps.join('; ')}`,
    'remove one of these dependencies, or mark it optional',
  );
}

function refusal(message: string, fix: string): Refusal {
  return { cause: new ChassisError('Unavailable', message, { data: { fix } }), fix };
}

/** Most plugins share a handful of versions and ranges: each pair is compared once. */
const compared = new Map<string, boolean>();

function fits(version: string, range: string): boolean {
  if (range === '*') return true;
  const key = `${version} ${range}`;
  let answer = compared.get(key);
  if (answer === undefined) {
    answer = satisfies(version, range, { includePrerelease: true });
    if (compared.size >= 10_000) compared.clear();
    compared.set(key, answer);
  }
  return answer;
}

function list<V>(map: Map<string, V[]>, key: string): V[] {
  const found = map.get(key) ?? [];
  map.set(key, found);
  return found;
}

function set(map: Map<string, Set<string>>, key: string): Set<string> {
  const made = new Set<string>();
  map.set(key, made);
  return made;
}
