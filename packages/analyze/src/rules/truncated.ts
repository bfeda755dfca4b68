/** A result is only a part: it says so itself, its text was cut, or less of it was shown to the model than it held. */
import type { SessionView, Step } from '@chassis/journal';
import { leavesOf } from '../json.ts';
import { addedOrigins } from '../origins.ts';
import { outputText } from '../outcome.ts';
import { follow, lastKey, pointer } from '../pointer.ts';
import { brief } from './looks.ts';
import { type Rule, type Suspect, toolsOf } from './rule.ts';

const flag = /^(?:is_?|was_?)?(?:truncated|partial|incomplete|cut|clipped|limit_?(?:reached|exceeded|hit))$/i;
const cutText =
  /\b(?:truncated|output (?:was )?cut|clipped)\b[^\n]{0,80}$|\.\.\. ?\(?\d[\d,. ]* (?:more|omitted)|\[\.\.\.\]\s*$|…\s*$|[^.]\.\.\.\s*$|\bomitted\b[^\n]{0,30}[)\]]\s*$/i;
/** A part beside its whole. */
const shares: readonly (readonly [RegExp, RegExp])[] = [
  [
    /^(?:(?:bytes_?)?(?:received|downloaded|fetched|loaded|read)(?:_?bytes)?)$/i,
    /^(?:content_?length|expected(?:_?bytes|_?length)?|total_?(?:bytes|length))$/i,
  ],
  [
    /^(?:bytes|bytes_?read|size|length|returned_?bytes)$/i,
    /^(?:total_?bytes|total_?size|file_?size|full_?(?:size|length))$/i,
  ],
  [
    /^(?:returned|shown|lines|rows_?returned|lines_?read)$/i,
    /^(?:total|available|matches|total_?(?:lines|rows|matches|results))$/i,
  ],
];

export const truncated: Rule = {
  name: 'truncated',
  *find({ view, steps }) {
    const known = new Set<number>();
    for (const step of candidates(steps)) {
      const said = inOutput(step);
      if (!said) continue;
      known.add(step.number);
      yield said;
    }
    for (const step of steps) {
      if (step.kind !== 'model' || showsAll(view, step)) continue;
      for (const { message, source } of addedOrigins(view, step.number)) {
        if (source?.label !== 'inferred' || source.step.kind !== 'tool') continue;
        const whole = JSON.stringify(source.step.output ?? '').length;
        if (known.has(source.step.number) || message.content.length >= whole * 0.9) continue;
        const text = `the model was shown ${message.content.length} of ${whole} characters of this result`;
        yield { step: source.step.number, pointer: '/output', text, score: 0.65, kind: 'missing' };
      }
    }
  },
};

/** A first look that costs little: most texts hold none of this. */
function mayBeCut(text: string): boolean {
  const end = text.length > 200 ? text.slice(-200) : text;
  if (!end.includes('...') && !end.includes('…') && !/trunc|cut|clipped|omitted/i.test(end)) return false;
  return cutText.test(end);
}

/** Whether a request's new messages are long enough to hold all of the results that led to it. */
function showsAll(view: SessionView, step: Step): boolean {
  const chars = view.delta?.(step.number)?.chars;
  if (chars === undefined) return false;
  const results = step.causes
    .flatMap((cause) => view.step(cause) ?? [])
    .filter(({ kind }) => kind === 'tool');
  return chars >= results.reduce((sum, result) => sum + outputText(result).length, 0);
}

/** Results in which something may say that they are only a part. */
function candidates(steps: readonly Step[]): Step[] {
  const found = new Set<Step>();
  for (const { columns } of toolsOf(steps)) {
    const parts = shares.some(
      ([part, whole]) =>
        columns.some(({ key }) => part.test(key)) && columns.some(({ key }) => whole.test(key)),
    );
    for (const { key, values, steps: from, shape } of columns) {
      const tells = flag.test(key) || shape === '/output' || parts;
      for (const [index, value] of values.entries()) {
        const step = from[index];
        const cut = typeof value === 'string' && value.length > 20 && mayBeCut(value);
        if (step && (tells || cut)) found.add(step);
      }
    }
  }
  return [...found].sort((a, b) => a.number - b.number);
}

function inOutput(step: Step): Suspect | undefined {
  const suspect = { step: step.number, score: 0.72, kind: 'missing' } as const;
  for (const { pointer: at, value, text } of leavesOf(step.output, '/output')) {
    const key = lastKey(at);
    if (flag.test(key) && value === true)
      return {
        ...suspect,
        pointer: at,
        value,
        text: `the result says that it is ${key.replaceAll('_', ' ')}`,
      };
    if (typeof value === 'string' && text.length > 20 && cutText.test(text.slice(-200))) {
      return {
        ...suspect,
        pointer: at,
        value: text.slice(-40),
        text: `the text ends cut: ${brief(text.slice(-40))}`,
      };
    }
  }
  const { output } = step;
  if (typeof output !== 'object' || output === null || Array.isArray(output)) {
    if (typeof output === 'string' && /^\s*[[{]/.test(output) && isCutJson(output)) {
      return {
        ...suspect,
        pointer: '/output',
        value: output.slice(-40),
        text: 'the result begins as JSON and stops in the middle',
      };
    }
    return undefined;
  }
  for (const [part, whole] of shares) {
    const keys = Object.keys(output);
    const [a, b] = [keys.find((key) => part.test(key)), keys.find((key) => whole.test(key))];
    if (a === undefined || b === undefined) continue;
    const [got, all] = [follow(output, pointer(a)), follow(output, pointer(b))];
    if (typeof got === 'number' && typeof all === 'number' && got < all) {
      return {
        ...suspect,
        pointer: `/output${pointer(a)}`,
        value: got,
        text: `only ${got} of ${all} (${a} of ${b})`,
      };
    }
  }
  return undefined;
}

/** JSON that stops: it does not parse, and its brackets stay open. */
function isCutJson(text: string): boolean {
  try {
    JSON.parse(text);
    return false;
  } catch {
    return !/[\]}]\s*$/.test(text);
  }
}
