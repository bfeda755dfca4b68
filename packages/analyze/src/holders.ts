/**
 * What a place could have been copied from: the data that was in sight when it was written.
 *
 * A model sees its request and nothing else. A tool sees its arguments, and the results of the steps inside it. What an
 * agent's own code passes to a tool it has from the steps that caused it, from the person, or from the clock.
 */
import type { SessionView, Step } from '@chassis/journal';
import { originsOf } from './origins.ts';
import { requestOf } from './place.ts';
import { pointer } from './pointer.ts';

export interface Holder {
  readonly step: number;
  /** Pointer to the data as a whole. */
  readonly root: string;
  readonly kind: 'tool' | 'model' | 'user' | 'system' | 'clock' | 'input';
  /** Earlier data has the smaller order. */
  readonly order: number;
  /** The text that carried the data to the reader, when it may be only a part of it. */
  readonly seen?: string;
}

/** What was in sight of a step's output (or error), earliest first. */
export function holdersOfOutput(view: SessionView, step: Step): Holder[] {
  return step.kind === 'model' ? request(view, step) : [...inside(view, step), own(step)].sort(byOrder);
}

/** What was in sight when an input that no model wrote was put together, earliest first. */
export function holdersOfInput(view: SessionView, step: Step): Holder[] {
  const causes = step.causes.flatMap((number) => (number === step.parent ? [] : (view.step(number) ?? [])));
  const parent = step.parent === null ? undefined : view.step(step.parent);
  return [...session(view, step), ...causes.flatMap(result), ...(parent ? [own(parent)] : [])].sort(byOrder);
}

/** Earlier steps that wrote the file which this step names: what a later read gives back. */
export function writersFor(view: SessionView, step: Step, texts: ReadonlySet<string>): Step[] {
  const changing = view.marks?.changing().flatMap((number) => view.step(number) ?? []) ?? view.steps;
  return changing.filter(
    (other) =>
      other.number < step.number &&
      other.effects.some(
        (effect) => effect.kind === 'file' && effect.op !== 'delete' && texts.has(effect.path),
      ),
  );
}

/** The arguments of a step. */
export function own(step: Step): Holder {
  return { step: step.number, root: '/input', kind: 'input', order: step.number - 0.5 };
}

function request(view: SessionView, step: Step): Holder[] {
  const messages = originsOf(view, step.number).map(({ message, first, source }): Holder => {
    if (source) {
      const kind = source.step.kind === 'model' ? 'model' : 'tool';
      const holder = {
        step: source.step.number,
        root: source.pointer,
        kind,
        order: source.step.number,
      } as const;
      return source.label === 'recorded' ? holder : { ...holder, seen: message.content };
    }
    const kind = message.role === 'system' ? 'system' : message.role === 'user' ? 'user' : 'tool';
    return { step: first.step, root: first.pointer + pointer('content'), kind, order: first.step - 0.5 };
  });
  const tools: Holder[] = requestOf(view, step.number).tools.length
    ? [{ step: step.number, root: '/input/tools', kind: 'system', order: step.number - 0.4 }]
    : [];
  return [...messages, ...tools].sort(byOrder);
}

function inside(view: SessionView, step: Step): Holder[] {
  return childrenOf(view, step.number).flatMap(result);
}

/** The steps that ran inside a step, in their order: they began after it and before it ended. */
export function childrenOf(view: SessionView, step: number): readonly Step[] {
  const { seq } = view.step(step) ?? {};
  const found: Step[] = [];
  if (seq === undefined) return found;
  const end = seq.finished ?? Number.POSITIVE_INFINITY;
  for (let number = step + 1; ; number++) {
    const other = view.step(number);
    if (!other || other.seq.started > end) return found;
    if (other.parent === step) found.push(other);
  }
}

function result(step: Step): Holder[] {
  const kind = step.kind === 'model' ? 'model' : 'tool';
  return (['/output', '/error'] as const).flatMap((root) =>
    step[root === '/output' ? 'output' : 'error'] === undefined
      ? []
      : [{ step: step.number, root, kind, order: step.number } as const],
  );
}

function session(view: SessionView, step: Step): Holder[] {
  const turns = view.turns.flatMap((turn, index): Holder[] =>
    turn.number > step.turn
      ? []
      : [{ step: 0, root: pointer('turns', index, 'input'), kind: 'user', order: 0 }],
  );
  const values = view.values.flatMap((value, index): Holder[] =>
    value.turn > step.turn
      ? []
      : [{ step: 0, root: pointer('values', index, 'value'), kind: 'clock', order: 0.1 }],
  );
  return [...turns, ...values];
}

function byOrder(a: Holder, b: Holder): number {
  return a.order - b.order;
}
