/** A result is only a part: it says so itself, its text was cut, or less of it was shown to the model than it held. */
import type { SessionView, Step } from '@chassis/journal';
import { partName, wholeName } from '../columns.ts';
import { brokenOff, cutHead, endsInMidSentence, isRound } from '../cut-text.ts';
import { leavesOf } from '../json.ts';
import { opened } from '../opened.ts';
import { addedOrigins } from '../origins.ts';
import { follow, lastKey, pointer } from '../pointer.ts';
import type { Survey, ToolUse } from '../survey.ts';
import { brief } from './looks.ts';
import type { Rule, Suspect } from './rule.ts';

const cutText =
  /(?:gekürzt|abgeschnitten|tronqué|截断|已省略|以下省略|未完)[^\n]{0,40}$|\b(?:limited to|only the first|first \d+ (?:of|rows|lines|items|bytes)|capped at|abridged|excerpt)\b[^\n]{0,80}$|\b(?:truncated|output (?:was )?cut|clipped)\b[^\n]{0,80}$|\.\.\. ?\(?\d[\d,. ]* (?:more|omitted)|\[\.\.\.\]\s*$|…\s*$|[^.]\.\.\.\s*$|\bomitted\b[^\n]{0,30}[)\]]\s*$/i;
/** Names of what is shortened by design. */
const preview =
  /snippet|subject|title|headline|preview|teaser|excerpt|summary|abstract|description|caption|label/i;
/** A part beside its whole. */
const shares: readonly (readonly [RegExp, RegExp])[] = [
  [
    /^(?:(?:bytes_?)?(?:received|downloaded|fetched|loaded|read)(?:_?bytes)?)$/i,
    /^(?:content_?length|expected(?:_?bytes|_?length)?|total_?(?:bytes|length))$/i,
  ],
  [
    /^(?:bytes_?read|(?:(?:body|content|text|returned|part|chunk)_?)?(?:bytes|size|length|chars))$/i,
    /^(?:total|file|full|original|whole)_?(?:bytes|size|length|chars)$/i,
  ],
  [
    /^(?:returned|shown|lines|rows_?returned|lines_?read)$/i,
    /^(?:total|available|matches|total_?(?:lines|rows|matches|results))$/i,
  ],
];

/** Names of the most that something may be long. */
const limitName = /(?:^|_)(?:limit|max|max_?(?:length|chars|size|bytes))$|^max_/i;

export const truncated: Rule = {
  name: 'truncated',
  *find({ view, steps, tools, survey }) {
    const known = new Set<number>();
    for (const step of candidates(tools)) {
      const said = inOutput(step);
      if (!said || isContinued(step, tools)) continue;
      known.add(step.number);
      yield said;
    }
    for (const step of steps) {
      if (step.kind !== 'model' || showsAll(view, step, survey)) continue;
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

/** Whether the rest was asked for with the mark that the result gave. */
function isContinued(step: Step, tools: readonly ToolUse[]): boolean {
  const mark = leavesOf(step.output).find(
    ({ pointer: at, value }) =>
      typeof value === 'string' && /next|cursor|continuation|marker/i.test(lastKey(at)),
  );
  const calls = tools.find(({ name }) => name === step.name)?.calls ?? [];
  return (
    mark !== undefined &&
    calls.some(
      ({ number, input }) => number > step.number && leavesOf(input).some(({ text }) => text === mark.text),
    )
  );
}

/** Whether a request's new messages are long enough to hold all of the results that led to it. */
function showsAll(view: SessionView, step: Step, { measure }: Survey): boolean {
  const chars = view.delta?.(step.number)?.chars;
  if (chars === undefined) return false;
  const results = step.causes
    .flatMap((cause) => view.step(cause) ?? [])
    .filter(({ kind }) => kind === 'tool');
  return chars >= 0.97 * results.reduce((sum, result) => sum + (measure(result)?.size ?? 0), 0);
}

/** Results in which something may say that they are only a part. */
function candidates(tools: readonly ToolUse[]): Step[] {
  const found = new Set<Step>();
  for (const { columns, cut: broken } of tools) {
    for (const step of broken) found.add(step);
    const parts = shares.some(
      ([part, whole]) =>
        columns.some(({ key }) => part.test(key)) && columns.some(({ key }) => whole.test(key)),
    );
    for (const { key, cut, steps, told, shape } of columns) {
      const tells = shape === '/output' || parts || limitName.test(key) ? steps : [];
      const says = told.filter(({ value }) =>
        partName.test(key) ? value === true : wholeName.test(key) && value === false,
      );
      for (const step of [...cut, ...tells, ...says.map((seen) => seen.step)]) found.add(step);
    }
  }
  return [...found].sort((a, b) => a.number - b.number);
}

const shortText = 160;

function inOutput(step: Step): Suspect | undefined {
  const suspect = { step: step.number, score: 0.72, kind: 'missing' } as const;
  const whole = opened(step.output);
  // What a text says of itself stands in it as it is, whatever data it holds.
  const raw = whole === step.output ? [] : leavesOf(step.output, '/output');
  for (const { pointer: at, value, text } of [...leavesOf(whole, '/output'), ...raw]) {
    const key = lastKey(at);
    if (partName.test(key) && value === true)
      return {
        ...suspect,
        pointer: at,
        value,
        text: `the result says that it is ${key.replaceAll('_', ' ')}`,
      };
    if (wholeName.test(key) && value === false)
      return {
        ...suspect,
        pointer: at,
        value,
        text: `the result says that it is not ${key.replaceAll('_', ' ')}`,
      };
    if (
      typeof value === 'string' &&
      text.length > 20 &&
      (cutText.test(text.slice(-200)) || cutHead.test(text.slice(0, 160)))
    ) {
      return {
        ...suspect,
        // A preview is cut because it is one, and so is a short text in a row of a list.
        ...(preview.test(lastKey(at)) || (text.length < shortText && /\/\d+\//.test(at))
          ? { score: 0.4 }
          : {}),
        pointer: at,
        ...(cutHead.test(text.slice(0, 160))
          ? { value: text.slice(0, 40), text: `the text begins cut: ${brief(text.slice(0, 40))}` }
          : { value: text.slice(-40), text: `the text ends cut: ${brief(text.slice(-40))}` }),
      };
    }
  }
  const limits = new Map<number, string>();
  for (const { pointer: at, value } of leavesOf(whole, '/output'))
    if (typeof value === 'number' && limitName.test(lastKey(at))) limits.set(value, lastKey(at));
  for (const { pointer: at, value } of [...leavesOf(whole, '/output'), ...raw]) {
    if (typeof value !== 'string' || value.length <= 20) continue;
    const broken = brokenOff(value);
    const tail = { ...suspect, pointer: at, value: value.slice(-40) };
    if (broken !== undefined) return { ...tail, text: `this text breaks off: ${broken}` };
    if (endsInMidSentence(value))
      return { ...tail, score: 0.54, text: 'this text ends in the middle of a sentence' };
    const bound = limits.get(value.length);
    if (bound !== undefined)
      return { ...tail, text: `this text is as long as ${bound} allows, ${value.length} characters` };
    if (isRound(value.length) && /[\p{L}\p{N},]$/u.test(value))
      return {
        ...tail,
        score: 0.57,
        text: `this text has exactly ${value.length} characters and ends in the middle`,
      };
  }
  const output = whole;
  if (typeof output !== 'object' || output === null || Array.isArray(output)) return undefined;
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
