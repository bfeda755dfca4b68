/**
 * The results of one tool as columns: what stands at one place of every result, side by side.
 *
 * A long run has millions of values. Here they are walked once, kept as they are, and a place is put into words only when
 * something is to be said about it.
 */
import type { Step } from '@chassis/journal';
import type { Json } from '@chassis/types';
import { leafText, leavesOf } from './json.ts';
import { lastKey, nameOf, pointer, shapeOf } from './pointer.ts';

export interface Column {
  /** The pointer of all its values, with `*` for every index. */
  readonly shape: string;
  /** The last member name or `*`. */
  readonly key: string;
  /** The nearest member name. */
  readonly name: string;
  readonly values: readonly Json[];
  /** For each value the step that it is from, ascending. */
  readonly steps: readonly Step[];
}

interface Node {
  readonly shape: string;
  readonly members: Map<string, Node>;
  items?: Node;
  values?: Json[];
  steps?: Step[];
}

const node = (shape: string): Node => ({ shape, members: new Map() });

/** The columns of the outputs of some steps. */
export function columnsOf(steps: readonly Step[]): Column[] {
  const root = node('/output');
  for (const step of steps) if (step.output !== undefined) take(root, step.output, step);
  const columns: Column[] = [];
  gather(root, columns);
  return columns;
}

/** The pointer of a column's value. */
export function pointerIn({ steps, shape }: Column, index: number): string {
  const step = steps[index];
  let first = index;
  while (first > 0 && steps[first - 1] === step) first--;
  const leaves = leavesOf(step?.output, '/output').filter((leaf) => shapeOf(leaf.pointer) === shape);
  return leaves[index - first]?.pointer ?? '/output';
}

function take(at: Node, value: Json, step: Step): void {
  if (Array.isArray(value)) {
    at.items ??= node(`${at.shape}/*`);
    for (let index = 0; index < value.length; index++) take(at.items, value[index] as Json, step);
  } else if (typeof value === 'object' && value !== null && leafText(value) === undefined) {
    for (const key of Object.keys(value)) {
      let member = at.members.get(key);
      if (!member) {
        // A name that looks like an index is one, to those who read a pointer.
        member = node(shapeOf(at.shape + pointer(key)));
        at.members.set(key, member);
      }
      take(member, (value as { [key: string]: Json })[key] as Json, step);
    }
  } else if (at.values && at.steps) {
    at.values.push(value);
    at.steps.push(step);
  } else {
    at.values = [value];
    at.steps = [step];
  }
}

function gather(at: Node, columns: Column[]): void {
  if (at.values && at.steps) {
    const { shape, values, steps } = at;
    columns.push({ shape, key: lastKey(shape), name: nameOf(shape.replaceAll('/*', '/0')), values, steps });
  }
  for (const member of at.members.values()) gather(member, columns);
  if (at.items) gather(at.items, columns);
}
