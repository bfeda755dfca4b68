/** What was read had changed by the time it was used: the file was written after it, a newer version was seen, or it came from a cache. */
import type { Step } from '@chassis/journal';
import type { Json } from '@chassis/types';
import { canonical, isNumber, type Leaf, leafText, leavesOf } from '../json.ts';
import { opened } from '../opened.ts';
import { inputKey } from '../outcome.ts';
import { lastKey, pointer } from '../pointer.ts';
import { isDistinctive } from '../search.ts';
import { isAboutChange, isWriting } from './looks.ts';
import type { Rule, Suspect } from './rule.ts';

const stale = /^(?:is_?)?(?:stale|expired|outdated)$/i;
const cached = /^(?:is_?|from_?)?cached?(?:_?hit)?$/i;
const source = /^(?:source|from|served_?from|origin|via|x-?cache|cache_?status)$/i;
const notFresh =
  /^(?:cache|cached|hit|stale|replica|backup|snapshot|offline|local copy|缓存)(?:$|[^\p{L}])/iu;
/** What HTTP says of an answer that is older than it may be (RFC 9111, section 5.5). */
const warned = /\bstale\b|^11[0-3]\b/i;
const version =
  /^(?:version|revision|rev|etag|updated_?at|modified_?at|mtime|as_?of|last_?modified|sequence)$/i;

export const staleRead: Rule = {
  name: 'stale-read',
  *find({ view, steps, tools: used, symptom, traces }) {
    const from = new Set(traces.map(({ lineage }) => lineage.birth.step));
    const tools = steps.filter(({ kind }) => kind === 'tool');
    const writes = indexed(
      tools.filter((step) => isWrite(step) || commandFiles(step).length > 0),
      (step) => {
        const files = [...touched(step), ...commandFiles(step)];
        return files.length > 0 ? files : namesOf(step);
      },
    );
    const telling = new Set(
      used.flatMap(({ name, columns }) =>
        columns.some(
          ({ key }) => stale.test(key) || cached.test(key) || version.test(key) || source.test(key),
        )
          ? [name]
          : [],
      ),
    );
    // Most runs change nothing that they have read, and no result says how old it is.
    if (writes.size === 0 && telling.size === 0 && !isAboutChange(symptom.text)) return;
    const uses = indexed(tools, namesOf);
    const calls = indexed(tools, (step) => [callKey(step)]);
    const versions = indexed(
      tools.filter((step) => telling.has(step.name) && !isWriting(step)),
      (step) => versionsOf(step).map(({ key }) => key),
    );
    for (const read of tools) {
      if (read.status !== 'ok' || read.number === symptom.step) continue;
      const tells = telling.has(read.name);
      const said = tells && flagged(read);
      if (said) yield said;
      const newer = tells && newerThan(read, versions);
      if (newer) yield newer;
      if (isWriting(read)) continue;
      const names = namesOf(read);
      const write = names
        .flatMap((name) => after(writes.get(name), read.number))
        .sort((a, b) => a.number - b.number)[0];
      if (!write || write.number >= symptom.step || isEdit(read, write)) continue;
      const again = after(calls.get(callKey(read)), write.number).some(({ number }) => number < symptom.step);
      const used =
        from.has(read.number) || names.some((name) => after(uses.get(name), write.number).length > 0);
      if (again || !used) continue;
      const text = `read here, changed by ${write.name} :${write.number}, and not read again before it was used`;
      // A file that is on record as changed is a fact; a call that may have changed something is a hint, until the
      // failure says that something has changed.
      const onRecord = touched(write).some((path) => names.includes(path));
      const failed = onRecord && namesOf(tools.at(-1) ?? read).some((name) => touched(write).includes(name));
      const score = failed
        ? 0.8
        : onRecord || isAboutChange(symptom.text)
          ? 0.68
          : from.has(read.number) && names.some((name) => namesOf(write).includes(name))
            ? 0.53
            : 0.5;
      yield { step: read.number, pointer: '/output', text, score, kind: 'value' };
    }
    yield* overtaken(view.step(symptom.step), symptom.text, tools, from);
  },
};

const isMark = /^(?=.*\d)(?=.*[a-f])(?:W\/)?"?[0-9a-f]{7,64}"?$|^\d{4}-\d\d-\d\d[T ]\d\d:/;

/** Whether lines of what was read are in what was written: who changes a text knows what stands there now. */
function isEdit(read: Step, write: Step): boolean {
  const lines = (texts: readonly Leaf[]): string[] =>
    texts.flatMap(({ text }) =>
      text.includes('\n') ? text.split('\n').filter((line) => line.trim().length > 3) : [],
    );
  const written = lines(leavesOf(write.input));
  if (written.length < 2) return false;
  const own = new Set(lines(leavesOf(read.output)));
  return written.filter((line) => own.has(line)).length * 3 >= written.length;
}

/**
 * The failure says that something has changed since it was read: what was read of the same thing is older than that, whoever
 * changed it.
 */
function* overtaken(
  failed: Step | undefined,
  said: string,
  tools: readonly Step[],
  from: ReadonlySet<number>,
): Generator<Suspect> {
  // "Conflict" alone may be about anything that is taken already.
  if (failed?.kind !== 'tool' || !isAboutChange(said.replaceAll(/conflict/gi, ''))) return;
  const own = new Set(leavesOf(failed.input).map(({ text }) => text));
  // What gave the mark of a state that the call was made with: a hash, a date with its time.
  const marks = [...own].filter((text) => isMark.test(text));
  const gives = (step: Step): boolean =>
    marks.length > 0 && leavesOf(opened(step.output)).some(({ text }) => marks.includes(text.trim()));
  const reads = tools.filter(
    (step) =>
      step.number < failed.number &&
      step.status === 'ok' &&
      step.name !== failed.name &&
      !isWriting(step) &&
      (gives(step) ||
        from.has(step.number) ||
        leavesOf(step.input).some(({ text }) => text.length >= 3 && own.has(text))),
  );
  const read = reads.findLast(({ number }) => from.has(number)) ?? reads.findLast(gives) ?? reads.at(-1);
  if (!read) return;
  const text = `read here, and not again before ${failed.name}, which says that it has changed since`;
  yield { step: read.number, pointer: '/output', text, score: 0.6, kind: 'value' };
}

type Index = ReadonlyMap<string, readonly Step[]>;

function indexed(steps: readonly Step[], keys: (step: Step) => readonly string[]): Index {
  const index = new Map<string, Step[]>();
  for (const step of steps) {
    for (const key of new Set(keys(step))) {
      const known = index.get(key);
      if (known) known.push(step);
      else index.set(key, [step]);
    }
  }
  return index;
}

/** The first step of a list that comes after a number. */
function after(steps: readonly Step[] = [], number: number): Step[] {
  let [low, high] = [0, steps.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((steps[middle]?.number ?? 0) > number) high = middle;
    else low = middle + 1;
  }
  const found = steps[low];
  return found ? [found] : [];
}

function flagged(step: Step): Suspect | undefined {
  for (const { pointer, value } of leavesOf(opened(step.output), '/output')) {
    const key = lastKey(pointer);
    const from = source.test(key) && typeof value === 'string' && notFresh.test(value);
    const warns = key === 'warning' && typeof value === 'string' && warned.test(value);
    const is = stale.test(key) || warns ? 0.72 : from ? 0.6 : cached.test(key) ? 0.58 : 0;
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

interface Version {
  /** What it is the version of, and where it stands. */
  readonly key: string;
  readonly leaf: Leaf;
}

/** Version members, with the texts that stand beside them: what they are the version of. */
function versionsOf(step: Step): Version[] {
  const found: Version[] = [];
  const asked = namesOf(step);
  const walk = (value: unknown, at: string, depth: number): void => {
    if (typeof value !== 'object' || value === null || depth > 6) return;
    const members = Object.entries(value);
    for (const [key, member] of Array.isArray(value) ? [] : members) {
      if (!version.test(key) || member === null || leafText(member) === undefined) continue;
      const leaf = { pointer: at + pointer(key), value: member as Json, text: leafText(member) ?? '' };
      const beside = members.flatMap(([other, text]) =>
        other !== key && typeof text === 'string' && isDistinctive(text) ? [text] : [],
      );
      for (const name of new Set([...beside, ...(depth < 3 ? asked : [])]))
        found.push({ key: `${key} ${name}`, leaf });
    }
    for (const [key, member] of members) walk(member, at + pointer(key), depth + 1);
  };
  walk(opened(step.output), '/output', 0);
  return found;
}

/** The same thing was seen later in the run with a newer version. */
function newerThan(read: Step, versions: Index): Suspect | undefined {
  for (const { key, leaf } of versionsOf(read)) {
    const others = versions.get(key) ?? [];
    for (const other of [...after(others, read.number), ...others.slice(-1)]) {
      if (other.number <= read.number) continue;
      const now = versionsOf(other).find((one) => one.key === key && isOlder(leaf.value, one.leaf.value));
      if (!now) continue;
      const text = `an old version was read: ${leaf.text}, :${other.number} shows ${now.leaf.text}`;
      return {
        step: read.number,
        pointer: leaf.pointer,
        value: leaf.value,
        text,
        score: 0.66,
        kind: 'value',
      };
    }
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
const names = new WeakMap<Step, readonly string[]>();

function namesOf(step: Step): readonly string[] {
  const known = step.status === 'ok' ? names.get(step) : undefined;
  if (known) return known;
  const found = namesIn(step);
  names.set(step, found);
  return found;
}

function namesIn(step: Step): readonly string[] {
  const found = leavesOf(step.input).filter(({ text, value }) => isDistinctive(text) || isName(value));
  return [...new Set([...found.map(({ text }) => text), ...touched(step)])];
}

function touched(step: Step): readonly string[] {
  if (step.effects.length === 0) return nothing;
  return step.effects.flatMap((effect) => (effect.kind === 'file' ? [effect.path] : []));
}

const commandName = /^(?:cmd|command|commands|script|argv|args|shell|bash)$/i;
const rewriting =
  /(?:^|[\s;&|])(?:sed\s+-\S*i|perl\s+-\S*i|tee|mv|cp|rm|truncate|patch|git\s+(?:checkout|restore|stash|reset|pull|merge|rebase)|\S+\s+(?:--write|--fix|-w|format|fmt)|prettier|black|gofmt|rustfmt|isort)(?:\s|$)|>{1,2}\s*\S/;

/** Files that a command names, when it is one that writes files. */
function commandFiles(step: Step): readonly string[] {
  if (step.status !== 'ok') return nothing;
  const command = leavesOf(step.input)
    .filter(({ pointer }) =>
      commandName.test(lastKey(/\/\d+$/.test(pointer) ? pointer.replace(/\/\d+$/, '') : pointer)),
    )
    .map(({ text }) => text)
    .join(' ');
  if (command === '' || command.length > 4000 || !rewriting.test(command)) return nothing;
  return command.match(/[\w@./-]*[\w-]\.[A-Za-z]\w{0,7}\b/g) ?? nothing;
}

const nothing: readonly string[] = [];

function isName(value: unknown): boolean {
  return typeof value === 'string' && value.length >= 3 && value.length < 80;
}

function isWrite(step: Step): boolean {
  return step.status === 'ok' && isWriting(step);
}

function callKey(step: Step): string {
  return `${step.name} ${inputKey(step)}`;
}
