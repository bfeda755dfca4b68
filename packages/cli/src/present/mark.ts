/** Outcomes and states as a sign and a colour; the word always stands beside it, so colour says nothing alone. */
import type { SessionSummary, Step } from '@chassis/journal';
import { paint } from '../terminal/screen.ts';

type Name = Step['status'] | SessionSummary['outcome'];

const marks: Readonly<Record<Name, readonly [string, 'green' | 'red' | 'yellow' | 'cyan']>> = {
  ok: ['✓', 'green'],
  error: ['✗', 'red'],
  failed: ['✗', 'red'],
  unreadable: ['✗', 'red'],
  timeout: ['✗', 'red'],
  denied: ['⊘', 'yellow'],
  cancelled: ['⊘', 'yellow'],
  unknown: ['?', 'yellow'],
  interrupted: ['?', 'yellow'],
  running: ['…', 'cyan'],
  ready: ['○', 'cyan'],
  started: ['…', 'cyan'],
  dispatched: ['…', 'cyan'],
};

export function mark(name: Name, stream?: NodeJS.WriteStream): string {
  const [sign, colour] = marks[name];
  return paint(colour, sign, stream);
}

/** A text in the colour of a name. */
export function inColourOf(name: Name, text: string, stream?: NodeJS.WriteStream): string {
  return paint(marks[name][1], text, stream);
}
