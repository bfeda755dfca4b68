/** A result that answers another question: it repeats an argument under its name, with another value. */
import type { Step } from '@chassis/journal';
import type { Json } from '@chassis/types';
import { firstDifference } from '../difference.ts';
import { leafText, leavesOf } from '../json.ts';
import { follow, lastKey, pointer } from '../pointer.ts';
import { isWriting } from './looks.ts';
import type { Rule, Suspect } from './rule.ts';

const identity =
  /(?:^|_)(?:id|key|name|page|day|date|path|file|url|symbol|code|sku|city|country|region|mail|slug|uuid|alias|place|airport|device|sensor|tag|repo|domain|ip|phone|vin|currency|user|email|year|month|ref|unit|units|locale|lang|language|tz|timezone|account|order|customer|ticket|branch|commit|sha|version|table|bucket|host|station|room|isbn|iban|plate)$|Id$/i;

export const wrongEcho: Rule<Suspect> = {
  name: 'wrong-echo',
  see(step, output) {
    if (step.kind !== 'tool' || step.status !== 'ok' || isWriting(step)) return undefined;
    return echo(step, output) ?? namesake(step, output);
  },
  find: (_, seen) => seen.values(),
};

function echo(step: Step, output: Json | undefined): Suspect | undefined {
  const { input } = step;
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return undefined;
  for (const key of Object.keys(input)) {
    const asked = (input as { readonly [key: string]: Json })[key];
    const askedText = leafText(asked);
    const places = askedText === undefined ? [] : placesOf(output, key);
    const at = places[0];
    if (at === undefined || askedText === undefined) continue;
    const texts = places.map((place) => leafText(follow(output, place)));
    if (texts.some((one) => one === undefined || sayTheSame(askedText, one))) continue;
    const [value, text] = [follow(output, at), texts[0]];
    if (value === undefined || text === undefined || firstDifference(asked, value) === null) continue;
    if (!identity.test(key) && !areCodes(askedText, text)) continue;
    return {
      step: step.number,
      pointer: `/output${at}`,
      value,
      text: `${step.name} was asked for ${key} ${JSON.stringify(askedText)} and answered for ${JSON.stringify(text)}`,
      score: 0.76,
      kind: 'value',
    };
  }
  return undefined;
}

const question =
  /^(?:q|query|search|term|text|address|place|location|name|title|subject|company|person|city)$/i;
const answer =
  /^(?:name|title|label|display_?name|formatted(?:_?address)?|full_?name|match(?:ed)?|place|subject|company|city)$/i;

/** One thing was asked for, and one was given that begins alike and is another: Frankfurt (Oder), Frankfurt am Main. */
function namesake(step: Step, output: Json | undefined): Suspect | undefined {
  if (typeof output !== 'object' || output === null || Array.isArray(output)) return undefined;
  const asked = leavesOf(step.input).filter(
    ({ pointer: at, value }) => typeof value === 'string' && question.test(lastKey(at)),
  );
  for (const [key, value] of Object.entries(output)) {
    if (!answer.test(key) || typeof value !== 'string') continue;
    const other = asked.find(({ text }) => {
      const [own, given] = [wordsOf(text), wordsOf(value)];
      // Each has something that the other lacks.
      return (
        own[0] === given[0] &&
        own.some((word) => !given.includes(word)) &&
        given.some((word) => !own.includes(word))
      );
    });
    if (!other) continue;
    const text = `${step.name} was asked for ${JSON.stringify(other.text)} and answered about ${JSON.stringify(value)}`;
    return { step: step.number, pointer: `/output${pointer(key)}`, value, text, score: 0.7, kind: 'value' };
  }
  return undefined;
}

function wordsOf(text: string): string[] {
  return text.length > 100 ? [] : (text.toLowerCase().match(/[\p{L}\d]{2,}/gu) ?? []);
}

/** Two codes of one kind: the same letters and digits in the same places, and both among them. */
function areCodes(a: string, b: string): boolean {
  const form = (text: string): string => text.replaceAll(/\p{L}/gu, 'a').replaceAll(/\d/g, '0');
  return form(a) === form(b) && /a/.test(form(a)) && /0/.test(form(a));
}

const deepest = 3;

/** Where a result repeats a member of that name: in it or in the objects that it holds, not in lists of several. */
function placesOf(output: unknown, key: string, at = '', depth = 0): string[] {
  if (Array.isArray(output)) {
    // The one row of an answer is the answer.
    return output.length === 1 ? placesOf(output[0], key, `${at}/0`, depth + 1) : [];
  }
  if (typeof output !== 'object' || output === null || depth > deepest) return [];
  const own = Object.hasOwn(output, key) ? [at + pointer(key)] : [];
  const inner = Object.entries(output).flatMap(([name, value]) =>
    typeof value === 'object' && value !== null ? placesOf(value, key, at + pointer(name), depth + 1) : [],
  );
  return [...own, ...inner];
}

/** Written in full or in short, in other case: `Paris` and `Paris, FR`, `a.txt` and `/w/a.txt`. */
function sayTheSame(asked: string, answered: string): boolean {
  const [a, b] = [asked.trim().toLowerCase(), answered.trim().toLowerCase()];
  if (a === b) return true;
  return /[a-z\p{L}]/u.test(a) && a.length > 1 && b.length > 1 && (a.includes(b) || b.includes(a));
}
