/** A run in one expression: calls that went well, and the one that failed. */
import type { Json } from '@chassis/types';
import { type Why, why } from '../src/why.ts';
import { failure, Story } from './build.ts';

export type Called = readonly [tool: string, input: Json, output: Json];

export interface Told extends Why {
  /** Numbers of the calls' steps. */
  readonly steps: readonly number[];
  readonly failed: number;
}

/** What `why` says of it, with the numbers of the steps. */
export function told(
  task: string,
  calls: readonly Called[],
  [tool, input, message]: readonly [tool: string, input: Json, message: string],
): Told {
  const story = new Story(task);
  const steps = calls.map(([name, given, output]) => story.call(name, given, output));
  const failed = story.call(tool, input, { error: failure('ToolError', 17, message) });
  return { steps, failed, ...why(story.fail()) };
}

/** The rules that speak, the cause's first. */
export function rulesOf({ cause, others }: Why): string[] {
  return [...(cause ? [cause] : []), ...others].map(({ rule }) => rule);
}
