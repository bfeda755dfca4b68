/** A page for people came where data was asked for: a form to sign in, a page that says no. */
import type { Json } from '@chassis/types';
import { type Leaf, leavesOf } from '../json.ts';
import { pointer } from '../pointer.ts';
import { clip } from '../words.ts';
import type { Rule } from './rule.ts';

const page = /^\s*(?:<!doctype html|<html[\s>])/i;
const title = /<title[^>]*>\s*([^<]{1,120})/i;
/** A file or a type of data, as a call names it. */
const data =
  /\.(?:json|ndjson|jsonl|csv|tsv|ya?ml|xml|txt|zip|gz|tar|parquet|xlsx?|pdf)\b|\b(?:json|csv|xml|yaml)\b/i;
const noData =
  /sign.?in|log.?in|captcha|denied|forbidden|unauthori[sz]ed|not found|error|expired|maintenance|anmeld|登录/i;
const mostLeaves = 40;

export const wrongContent: Rule<Leaf> = {
  name: 'wrong-content',
  see(step, _output, recorded) {
    if (step.kind !== 'tool' || step.status !== 'ok') return undefined;
    const found = textsIn(recorded).find(({ text }) => page.test(text));
    if (!found) return undefined;
    const asked = leavesOf(step.input).some(({ text }) => text.length < 500 && data.test(text));
    return asked || noData.test(title.exec(found.text)?.[1] ?? '') ? found : undefined;
  },
  *find({ tools }, seen) {
    for (const { name, fresh } of tools)
      for (const step of fresh) {
        const found = seen.get(step.number);
        if (!found) continue;
        const called = title.exec(found.text)?.[1];
        const what =
          called === undefined ? 'a page for people' : `the page ${JSON.stringify(clip(called.trim(), 60))}`;
        const text = `${name} brought ${what} in HTML, and no data`;
        yield { step: step.number, pointer: found.pointer, text, score: 0.78, kind: 'value' };
      }
  },
};

/** The text that a result is, or those at its top. */
function textsIn(output: Json | undefined): Leaf[] {
  if (typeof output === 'string') return [{ pointer: '/output', value: output, text: output }];
  if (typeof output !== 'object' || output === null) return [];
  return Object.entries(output)
    .slice(0, mostLeaves)
    .flatMap(([key, value]) =>
      typeof value === 'string' ? [{ pointer: `/output${pointer(key)}`, value, text: value }] : [],
    );
}
