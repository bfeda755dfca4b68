/** What was read had changed by the time it was used: the file was written after it, a newer version was seen, or it came from a cache. */
import type { Step } from '@chassis/journal';
import { canonical, isNumber, leavesOf } from '../json.ts';
import { follow, keysOf } from '../pointer.ts';
import { isDistinctive } from '../search.ts';
import { isWriting } from './looks.ts';
import type { Rule, Suspect } from './rule.ts';

const stale = /^(?:is_?)?(?:stale|expired|outdated)$/i;
const cached = /^(?:is_?|from_?)?cached?(?:_?hit)?$/i;
const version =
  /^(?:version|revision|rev|etag|updated_?at|modified_?at|mtime|as_?of|last_?modified|sequence)$/i;

export const staleRead: Rule = {
  name: 'stale-read',
  *find({ steps, symptom }) {
    for (const [index, read] of steps.entries()) {
      if (read.kind !== 'tool' || read.status !== 'ok' || read.number === symptom.step) continue;
      const said = flagged(read);
      if (said) yield said;
      const named = namesOf(read);
      const later = steps.slice(index + 1).filter(({ kind }) => kind === 'tool');
      const write = isWrite(read)
        ? undefined
        : later.find((step) => step.number < symptom.step && isWrite(step) && writes(step, named));
      const again =
        write &&
        later.find(
          (step) => step.number > write.number && step.number < symptom.step && sameCall(read, step),
        );
      const used = later.some(
        (step) => write && step.number > write.number && namesOf(step).intersection(named).size > 0,
      );
      if (write && !again && used) {
        const text = `read here, changed by ${write.name} :${write.number}, and not read again before it was used`;
        // A file that is on record as changed is a fact; a call that is only named like a change is a hint.
        const score = touched(write).length > 0 ? 0.68 : 0.5;
        yield { step: read.number, pointer: '/output', text, score, kind: 'value' };
      }
      const newer = later.flatMap((step) => (isWriting(step) ? [] : (older(read, step) ?? [])))[0];
      if (newer) yield newer;
    }
  },
};

function flagged(step: Step): Suspect | undefined {
  for (const { pointer, value } of leavesOf(step.output, '/output')) {
    const key = keysOf(pointer).at(-1) ?? '';
    const is = stale.test(key) ? 0.72 : cached.test(key) ? 0.58 : 0;
    if (is === 0 || value === false || value === null || value === 0) continue;
    if (is < 0.6 && value !== true && value !== 'hit' && value !== 'HIT') continue;
    return {
      step: step.number,
      pointer,
      value,
      text: `the result says that it is not fresh (${key})`,
      score: is,
      kind: 'value',
    };
  }
  return undefined;
}

/** The same thing was seen elsewhere in the run with a newer version. */
function older(read: Step, other: Step): Suspect | undefined {
  for (const { pointer, value, text } of leavesOf(read.output, '/output')) {
    if (!version.test(keysOf(pointer).at(-1) ?? '') || namesOf(read).intersection(namesOf(other)).size === 0)
      continue;
    const now = follow(other, pointer);
    if (now === undefined || now === null || !isOlder(value, now)) continue;
    const later = `:${other.number} shows ${canonical(now)}`;
    return {
      step: read.number,
      pointer,
      value,
      text: `an old version was read: ${text}, ${later}`,
      score: 0.62,
      kind: 'value',
    };
  }
  return undefined;
}

function isOlder(a: unknown, b: unknown): boolean {
  if (isNumber(a) && isNumber(b)) return Number(canonical(a)) < Number(canonical(b));
  if (typeof a !== 'string' || typeof b !== 'string') return false;
  const [x, y] = [Date.parse(a), Date.parse(b)];
  return !Number.isNaN(x) && !Number.isNaN(y) && /\d{4}-\d\d/.test(a) && x < y;
}

/** What a call is about: its telling arguments and the files that it changed. */
function namesOf(step: Step): Set<string> {
  const names = [...leavesOf(step.input)].filter(({ text, value }) => isDistinctive(text) || isName(value));
  return new Set([...names.map(({ text }) => text), ...touched(step)]);
}

function touched(step: Step): string[] {
  return step.effects.flatMap((effect) => (effect.kind === 'file' ? [effect.path] : []));
}

function isName(value: unknown): boolean {
  return typeof value === 'string' && value.length >= 3 && value.length < 80;
}

function isWrite(step: Step): boolean {
  return step.status === 'ok' && isWriting(step);
}

function writes(step: Step, named: ReadonlySet<string>): boolean {
  const files = touched(step);
  return files.length > 0
    ? files.some((path) => named.has(path))
    : namesOf(step).intersection(named).size > 0;
}

function sameCall(a: Step, b: Step): boolean {
  return a.name === b.name && canonical(a.input) === canonical(b.input);
}
