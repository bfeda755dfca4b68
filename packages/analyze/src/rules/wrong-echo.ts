/** A result that answers another question: it repeats an argument under its name, with another value. */
import type { Step } from '@chassis/journal';
import type { Json } from '@chassis/types';
import { firstDifference } from '../difference.ts';
import { leafText } from '../json.ts';
import { follow, pointer } from '../pointer.ts';
import { isWriting } from './looks.ts';
import type { Rule, Suspect } from './rule.ts';

const identity =
  /(?:^|_)(?:id|key|name|page|day|date|path|file|url|symbol|code|sku|city|country|region|currency|user|email|year|month|ref|unit|units|locale|lang|language|tz|timezone|account|order|customer|ticket|branch|commit|sha|version|table|bucket|host|station|room|isbn|iban|plate)$|Id$/i;

export const wrongEcho: Rule<Suspect> = {
  name: 'wrong-echo',
  see(step, output) {
    return step.kind === 'tool' && step.status === 'ok' && !isWriting(step) ? echo(step, output) : undefined;
  },
  find: (_, seen) => seen.values(),
};

function echo(step: Step, output: Json | undefined): Suspect | undefined {
  const { input } = step;
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return undefined;
  for (const key of Object.keys(input)) {
    const at = placeOf(output, key);
    if (at === undefined) continue;
    const asked = (input as { readonly [key: string]: Json })[key];
    const value = follow(output, at);
    const [askedText, text] = [leafText(asked), leafText(value)];
    if (value === undefined || text === undefined || askedText === undefined) continue;
    if (sayTheSame(askedText, text) || firstDifference(asked, value) === null) continue;
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

/** Two codes of one kind: the same letters and digits in the same places, and both among them. */
function areCodes(a: string, b: string): boolean {
  const form = (text: string): string => text.replaceAll(/\p{L}/gu, 'a').replaceAll(/\d/g, '0');
  return form(a) === form(b) && /a/.test(form(a)) && /0/.test(form(a));
}

/** The member of that name at the top of a result, or in the one object that the result holds. */
function placeOf(output: unknown, key: string): string | undefined {
  if (typeof output !== 'object' || output === null || Array.isArray(output)) return undefined;
  if (Object.hasOwn(output, key)) return pointer(key);
  const inner = Object.entries(output).filter(
    ([, value]) => typeof value === 'object' && value !== null && !Array.isArray(value),
  );
  const [name, object] = inner.length === 1 ? (inner[0] ?? []) : [];
  return name !== undefined && typeof object === 'object' && object !== null && Object.hasOwn(object, key)
    ? pointer(name, key)
    : undefined;
}

/** Written in full or in short, in other case: `Paris` and `Paris, FR`, `a.txt` and `/w/a.txt`. */
function sayTheSame(asked: string, answered: string): boolean {
  const [a, b] = [asked.trim().toLowerCase(), answered.trim().toLowerCase()];
  if (a === b) return true;
  return /[a-z\p{L}]/u.test(a) && a.length > 1 && b.length > 1 && (a.includes(b) || b.includes(a));
}
