/**
 * Addresses: `session[:step][#json-pointer][@from-to]`, the same on the command line, in URLs and in code.
 *
 * Promise: pure; `parseAddress(formatAddress(a))` is `a`. Inside a part `: # @ %` are percent-encoded; a range is half open,
 * in UTF-16 units.
 */
import { ChassisError } from '@chassis/errors';

export type StepName = number | 'fail' | 'cause' | 'end';

export interface Address {
  /** An id, a prefix, `@last`, `@failed`, or the path of a bundle. */
  readonly session: string;
  readonly step?: StepName;
  /** Rooted at the step: `/input`, `/output`, `/error`. */
  readonly pointer?: string;
  readonly range?: readonly [number, number];
}

const SHAPE = /^(@?[^:#@]*)(?::([^#@]*))?(?:#([^@]*))?(?:@(.*))?$/s;

/** @throws InvalidParams that says which part is wrong */
export function parseAddress(text: string): Address {
  const match = SHAPE.exec(text);
  if (match === null)
    throw wrong(
      text,
      'write it as SESSION[:STEP][#/POINTER][@FROM-TO], with : # @ % inside a part as %3A %23 %40 %25',
    );
  const [, session = '', step, pointer, range] = match;
  if (session === '' || session === '@') throw wrong(text, 'it names no session');
  return {
    session: session.startsWith('@') ? session : decoded(session, text),
    ...(step === undefined ? {} : { step: stepIn(step, text) }),
    ...(pointer === undefined ? {} : { pointer: pointerOf(decoded(pointer, text), text) }),
    ...(range === undefined ? {} : { range: rangeOf(range, text) }),
  };
}

export function formatAddress({ session, ...place }: Address): string {
  return addressIn(/^@[a-z]+$/.test(session) ? session : encoded(session), place);
}

/** The address of a place in a session whose name is written as it can be typed. */
export function addressIn(name: string, { step, pointer, range }: Omit<Address, 'session'>): string {
  return [
    name,
    step === undefined ? '' : `:${step}`,
    pointer === undefined ? '' : `#${encoded(pointer)}`,
    range === undefined ? '' : `@${range[0]}-${range[1]}`,
  ].join('');
}

/** Whether the session part is a file: it has a slash, or the ending of a bundle. */
export function isBundlePath(session: string): boolean {
  return session.includes('/') || session.includes('\\') || /\.jsonl(\.zst)?$/.test(session);
}

/** The step that a word names; undefined when it names none. */
export function stepOf(text: string): StepName | undefined {
  if (text === 'fail' || text === 'cause' || text === 'end') return text;
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}

function stepIn(text: string, address: string): StepName {
  const step = stepOf(text);
  if (step === undefined) throw wrong(address, `"${text}" is no step: it is a number, fail, cause or end`);
  return step;
}

function pointerOf(text: string, address: string): string {
  if (text === '' || text.startsWith('/')) return text;
  throw wrong(address, `"${text}" is no JSON Pointer: it starts with /`);
}

function rangeOf(text: string, address: string): readonly [number, number] {
  const match = /^(\d{1,15})-(\d{1,15})$/.exec(text);
  const [from, to] = [Number(match?.[1]), Number(match?.[2])];
  if (match === null || from > to) throw wrong(address, `"${text}" is no range: write FROM-TO`);
  return [from, to];
}

function encoded(text: string): string {
  return text.replace(/[:#@%]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
}

function decoded(text: string, address: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw wrong(address, 'a % must be followed by two hex digits of a valid UTF-8 text (a % itself is %25)');
  }
}

function wrong(text: string, why: string): ChassisError {
  return new ChassisError('InvalidParams', `${text}: ${why}`, { data: { address: text } });
}
