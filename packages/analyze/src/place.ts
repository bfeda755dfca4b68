/**
 * A place in a session: a step, a JSON Pointer rooted at it, and for text a range in UTF-16 units.
 *
 * `/input`, `/output` and `/error` are the step's own; the input of a model step is the request as the model saw it
 * (`/input/messages/3/content`). Step 0 is the session itself: `/turns/0/input`, `/values/2/value`.
 */
import { peek, type SessionView, type Step } from '@chassis/journal';
import type { Json, JsonObject, Message, ToolSpec } from '@chassis/types';
import { perStep } from './memo.ts';
import { follow, keysOf, pointer } from './pointer.ts';

export interface Place {
  readonly step: number;
  readonly pointer: string;
  readonly range?: readonly [number, number];
}

/** A place together with what stands there. */
export interface Span extends Place {
  readonly text: string;
}

export interface Request {
  readonly messages: readonly Message[];
  readonly tools: readonly ToolSpec[];
  readonly params: JsonObject;
}

/** The request of a model step. A request repeats the whole conversation, so only a few are held. */
export const requestOf = perStep((view, step): Request => view.request(step), 16);

/** The value at a place; `undefined` when there is none. A range gives that part of a string. */
export function read(view: SessionView, place: Place): Json | undefined {
  const value = follow(rootOf(view, place), place.pointer);
  if (!place.range) return value;
  return typeof value === 'string' ? value.slice(...place.range) : undefined;
}

/** `:4#/output/rows/1/amount@0-8`, the part of an address behind the session. */
export function addressOf(place: Place): string {
  const range = place.range ? `@${place.range[0]}-${place.range[1]}` : '';
  return `:${place.step}#${place.pointer}${range}`;
}

function rootOf(view: SessionView, place: Place): unknown {
  if (place.step === 0) return { turns: view.turns, values: view.values, header: view.header };
  const step = view.step(place.step);
  if (step?.kind !== 'model' || keysOf(place.pointer)[0] !== 'input') return step;
  return { input: requestOf(view, step.number) };
}

interface Call {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
  readonly pointer: string;
}

const calls = new WeakMap<Step, { readonly finished: number | undefined; readonly found: readonly Call[] }>();

/**
 * The tool calls of a model step's answer, with the pointer to each.
 * @param output the step's output, when it is at hand
 */
export function callsOf(step: Step, output?: unknown): readonly Call[] {
  if (step.kind !== 'model') return [];
  const { finished } = step.seq;
  const known = calls.get(step);
  if (known && known.finished === finished) return known.found;
  const found = callsIn(output ?? peek(step, 'output'));
  calls.set(step, { finished, found });
  return found;
}

function callsIn(output: unknown): Call[] {
  const written = follow(output, '/message/tool_calls');
  if (!Array.isArray(written)) return [];
  return written.flatMap((call: unknown, index) => {
    const [id, name, args] = ['/id', '/name', '/arguments'].map((path) => follow(call, path));
    if (typeof id !== 'string' || typeof name !== 'string' || typeof args !== 'string') return [];
    return [
      { id, name, arguments: args, pointer: pointer('output', 'message', 'tool_calls', index, 'arguments') },
    ];
  });
}
