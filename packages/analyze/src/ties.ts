/**
 * What ties a step to a failure when no value leads from one to the other: the same tool, or the same things spoken of.
 *
 * A run does much that is beside the point, and some of it looks odd. What is odd explains a failure only when it has to do
 * with it. A word that most tools of the run use says nothing; one that few use names the subject.
 */
import { peek, type Step } from '@chassis/journal';
import { leavesOf } from './json.ts';
import { opened } from './opened.ts';
import { nameOf } from './pointer.ts';
import type { Evidence } from './rules/rule.ts';

/** Whether a step has to do with the failure. */
export type IsTied = (step: number) => boolean;

const mostText = 4000;
const mostWords = 400;
/** So many steps of each tool say how usual its words are. */
const samples = 3;

/** Ties of the steps to a symptom; read once for each step that is asked about. */
export function tiesOf({ view, symptom, traces, tools }: Evidence): IsTied {
  const failed = view.step(symptom.step);
  const spread = spreadOf(tools.map(({ calls }) => calls));
  /** Few of the run's tools use it; in a run of few tools every word of the failure tells. */
  const most = Math.max(2, Math.floor(tools.length / 3));
  const subject = new Set<string>();
  const add = (words: Iterable<string>): void => {
    for (const word of words) if ((spread.get(word) ?? 0) <= most) subject.add(word);
  };
  add(wordsOf(symptom.text.replace(/^\w+: /, '')));
  if (failed?.kind === 'tool') add(spoken(failed, false));
  for (const { lineage } of traces) add(wordsOf(lineage.birth.text.slice(0, 200)));
  const known = new Map<number, boolean>();
  const isTied = (number: number): boolean => {
    const step = view.step(number);
    if (!step || number === symptom.step || (failed && step.name === failed.name)) return true;
    if (step.kind !== 'tool') return true;
    for (const word of spoken(step, true)) if (subject.has(word)) return true;
    return false;
  };
  return (number) => {
    const tied = known.get(number) ?? isTied(number);
    known.set(number, tied);
    return tied;
  };
}

/** In how many tools' calls and results a word occurs. */
function spreadOf(tools: readonly (readonly Step[])[]): ReadonlyMap<string, number> {
  const spread = new Map<string, number>();
  for (const calls of tools) {
    const own = new Set(
      [...calls.slice(0, samples), ...calls.slice(-samples)].flatMap((step) => [...spoken(step, true)]),
    );
    for (const word of own) spread.set(word, (spread.get(word) ?? 0) + 1);
  }
  return spread;
}

const kept = new WeakMap<Step, readonly [ReadonlySet<string>, ReadonlySet<string>]>();

/** The words of a step: its tool's name, what it was given, and what came of it. */
function spoken(step: Step, withEnd: boolean): ReadonlySet<string> {
  const known = step.status === 'ok' ? kept.get(step) : undefined;
  if (known) return known[withEnd ? 1 : 0];
  const given = new Set(wordsOf(step.name));
  wordsInto(given, leavesOf(step.input));
  const all = new Set(given);
  if (step.error) for (const word of wordsOf(step.error.message)) all.add(word);
  wordsInto(all, leavesOf(opened(peek(step, 'output') as Parameters<typeof opened>[0])).slice(0, mostWords));
  kept.set(step, [given, all]);
  return withEnd ? all : given;
}

function wordsInto(words: Set<string>, leaves: ReturnType<typeof leavesOf>): void {
  for (const { pointer, text } of leaves) {
    if (words.size > mostWords) return;
    for (const word of wordsOf(nameOf(pointer))) words.add(word);
    for (const word of wordsOf(text.slice(0, mostText))) words.add(word);
  }
}

/** Words of three letters or more, and numbers of two digits or more, in one spelling. */
export function wordsOf(text: string): string[] {
  const words =
    text
      .replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
      .toLowerCase()
      .match(/\p{L}{2,}\d*|\d{2,}/gu) ?? [];
  return words.flatMap((word) => {
    if (/^\d/.test(word)) return [word];
    if (/[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/.test(word)) return pairsOf(word);
    const stem = word.replace(/(?:e?s|en|e)$/, '');
    return stem.length < 3 || usual.has(word) ? [] : [stem];
  });
}

/** Scripts that set no spaces: each two signs in a row. */
function pairsOf(word: string): string[] {
  const signs = Array.from(word);
  return signs.slice(0, -1).map((sign, index) => sign + (signs[index + 1] ?? ''));
}

/** What any failure and any result may say. */
const usual = new Set(
  'the and for not was were are has have had from with this that there its one two all any been but can cannot could did does error errors failed fail invalid request response result results status message data value values ok true false null none name text type code id ids list get set right take found done given http https www test com body input output into than then when which expected must should more less'.split(
    ' ',
  ),
);
