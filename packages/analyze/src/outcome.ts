/** What a step was given and what came of it, as short keys and as text: made once for a step, however often it is asked. */
import { peek, type Step } from '@chassis/journal';
import { canonical } from './json.ts';

interface Known {
  /** The record that the text was made of: a step that runs anew has another end. */
  readonly finished: number | undefined;
  readonly text: string;
}

const texts = new WeakMap<Step, Known>();

/** The JSON text of a step's output, as it was recorded. */
export function outputText(step: Step): string {
  const known = texts.get(step);
  if (known && known.finished === step.seq.finished) return known.text;
  const text = JSON.stringify(peek(step, 'output')) ?? '';
  texts.set(step, { finished: step.seq.finished, text });
  return text;
}

/** Equal for steps that were given the same. */
export function inputKey(step: Step): string {
  return step.digest === '' ? canonical(step.input) : step.digest;
}
