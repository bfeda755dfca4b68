/**
 * One look at everything that led to a failure: each result is read once, shown to all who want to see it, and let go.
 *
 * What is kept of a result is small, so that a run of any length fits; who needs a result again reads it again.
 */
import { peek, type Step } from '@chassis/journal';
import type { Json } from '@chassis/types';
import { type Column, ColumnBook, type Measure } from './columns.ts';
import { opened } from './opened.ts';
import { inputKey, outputText } from './outcome.ts';
import { callsOf } from './place.ts';
import { failureInside } from './rules/looks.ts';

/** One tool's part in the slice. */
export interface ToolUse {
  readonly name: string;
  /** Its steps, in their order. */
  readonly calls: readonly Step[];
  /** Calls with equal arguments and equal results, in the order of the first of each. */
  readonly groups: readonly (readonly Step[])[];
  /** The first of each group: a result that came twice says no more than once. */
  readonly fresh: readonly Step[];
  /** The results of the fresh calls that went well. */
  readonly columns: readonly Column[];
  /** Steps with a text that holds data, and may end cut. */
  readonly cut: readonly Step[];
}

export interface Survey {
  readonly tools: readonly ToolUse[];
  /** Of every tool step with a result. */
  readonly measure: (step: Step) => Measure | undefined;
  /** Whether two steps came to the same: equal results, or equal errors. */
  readonly sameEnd: (a: Step, b: Step) => boolean;
}

interface Open {
  readonly name: string;
  readonly calls: Step[];
  readonly groups: Step[][];
  readonly byInput: Map<string, Step[][]>;
  readonly book: ColumnBook;
}

/** @param see is shown each step with its result, in their order */
export function survey(
  steps: readonly Step[],
  see: (step: Step, output: Json | undefined, recorded: Json | undefined) => void,
): Survey {
  const tools = new Map<string, Open>();
  const measures = new Map<number, Measure>();
  const measure = (step: Step): Measure | undefined => measures.get(step.number);
  const sameEnd = (a: Step, b: Step): boolean => {
    if (a.status !== b.status) return false;
    if (a.error || b.error) return a.error?.code === b.error?.code && a.error?.message === b.error?.message;
    return measure(a)?.print === measure(b)?.print && outputText(a) === outputText(b);
  };
  for (const step of steps) {
    const recorded = peek(step, 'output');
    const output = step.kind === 'tool' ? opened(recorded) : recorded;
    if (step.kind === 'tool') {
      let tool = tools.get(step.name);
      if (!tool) {
        tool = { name: step.name, calls: [], groups: [], byInput: new Map(), book: new ColumnBook() };
        tools.set(step.name, tool);
      }
      enter(tool, step, output, measures, sameEnd);
      if (output !== recorded) for (const text of textsOf(recorded)) tool.book.cutIn(step, text);
      failureInside(step, output, recorded);
    } else {
      callsOf(step, output);
    }
    see(step, output, recorded);
  }
  return {
    tools: [...tools.values()].map(({ name, calls, groups, book }) => ({
      name,
      calls,
      groups,
      fresh: groups.flatMap((same) => same[0] ?? []),
      columns: book.columns(),
      cut: book.cut,
    })),
    measure,
    sameEnd,
  };
}

function enter(
  tool: Open,
  step: Step,
  output: Json | undefined,
  measures: Map<number, Measure>,
  sameEnd: (a: Step, b: Step) => boolean,
): void {
  tool.calls.push(step);
  const key = inputKey(step);
  const known = tool.byInput.get(key);
  const counts = step.status === 'ok';
  // Only a call that was made before can have a result that is no news.
  if (output !== undefined) measures.set(step.number, tool.book.add(step, output, counts && !known));
  const group = known?.find(([first]) => first !== undefined && sameEnd(first, step));
  if (group) {
    group.push(step);
    return;
  }
  const fresh = [step];
  tool.groups.push(fresh);
  if (known) {
    known.push(fresh);
    if (output !== undefined && counts) tool.book.add(step, output, true);
  } else {
    tool.byInput.set(key, [fresh]);
  }
}

/** The texts at the top of a result, and in its members. */
export function textsOf(value: Json | undefined): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return [];
  return Object.values(value).filter((member) => typeof member === 'string');
}
