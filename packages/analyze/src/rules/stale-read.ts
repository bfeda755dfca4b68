/** What was read had changed by the time it was used: the file was written after it, a newer version was seen, or it came from a cache. */
import type { Step } from '@chassis/journal';
import { canonical, isNumber, leavesOf } from '../json.ts';
import { follow, keysOf } from '../pointer.ts';
import { isDistinctive } from '../search.ts';
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
        yield { step: read.number, pointer: '/output', text, score: 0.68, kind: 'value' };
      }
      const newer = later.map((step) => older(read, step)).find((found) => found !== undefined);
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

/** What a call is about: its telling arguments and the files that it touched. */
function namesOf(step: Step): Set<string> {
  const names = [...leavesOf(step.input)]
    .filter(({ text, value }) => isDistinctive(text) || isId(value))
    .map(({ text }) => text);
  const files = step.effects.flatMap((effect) => (effect.kind === 'file' ? [effect.path] : []));
  return new Set([...names, ...files]);
}

function isId(value: unknown): boolean {
  return typeof value === 'string' && value.length >= 3 && value.length < 80;
}

function isWrite(step: Step): boolean {
  if (step.status !== 'ok') return false;
  return (
    step.effects.some(({ kind }) => kind !== 'process') ||
    /(?:^|[_-])(?:write|edit|update|set|save|put|patch|delete|move|rename|insert|append|replace)(?:$|[_-])/i.test(
      step.name,
    )
  );
}

function writes(step: Step, named: ReadonlySet<string>): boolean {
  const files = step.effects.flatMap((effect) => (effect.kind === 'file' ? [effect.path] : []));
  return files.length > 0
    ? files.some((path) => named.has(path))
    : namesOf(step).intersection(named).size > 0;
}

function sameCall(a: Step, b: Step): boolean {
  return a.name === b.name && canonical(a.input) === canonical(b.input);
}
