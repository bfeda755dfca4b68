/** What a result looks like from outside: a failure in the guise of a success, a refusal, a cut text. */
import type { Step } from '@chassis/journal';
import type { Json } from '@chassis/types';
import { leafText, leavesOf, parseDocument } from '../json.ts';
import { follow, lastKey } from '../pointer.ts';

export interface Finding {
  readonly pointer: string;
  readonly text: string;
}

const failedWords = /^(?:error|fail|failed|failure|exception|fatal|denied|rejected|timeout|unavailable)$/i;
const failedText =
  /^\s*(?:\[?error\]?\b\s*[:\-!]|traceback \(most recent|(?:[A-Za-z]*(?:Error|Exception))\s*:|fatal:|failed to )/i;
const refusal =
  /permission denied|access denied|not permitted|operation not permitted|forbidden|unauthori[sz]ed|not authori[sz]ed|not accessible|insufficient (?:permission|scope|privilege)|\bEACCES\b|\bEPERM\b|\b40[13]\b(?! ?(?:bytes|rows|items|ms))/i;

const known = new WeakMap<
  Step,
  { readonly finished: number | undefined; readonly found: Finding | undefined }
>();

/**
 * A successful step's output that says it failed; its own words.
 * @param output the step's output, when it is at hand
 */
export function failureInside(step: Step, output?: Json): Finding | undefined {
  if (step.status !== 'ok' || step.kind !== 'tool') return undefined;
  const { finished } = step.seq;
  let entry = known.get(step);
  if (entry?.finished !== finished || !entry) {
    entry = { finished, found: foundInside(step, output ?? step.output) };
    known.set(step, entry);
  }
  return entry.found;
}

/** The members whose values tell how a call went. */
const telling =
  /^(?:error|errors|error_message|exception|ok|success|succeeded|exit_code|exitCode|returncode|status|status_code|statusCode|state|text|content|message|result|stdout|stderr)$/;

function foundInside(step: Step, output: Json | undefined): Finding | undefined {
  if (typeof output === 'object' && output !== null && !isWriting(step)) {
    let tells = false;
    for (const key of Object.keys(output)) tells ||= telling.test(key);
    if (!tells) return undefined;
  }
  if (typeof output === 'string' && parseDocument(output) === undefined) {
    return failedText.test(output) ? { pointer: '/output', text: firstLine(output) } : undefined;
  }
  const body = typeof output === 'string' ? parseDocument(output) : output;
  const at = (key: string): string => `/output${typeof output === 'string' ? '' : key}`;
  for (const key of ['/error', '/errors', '/error_message', '/exception']) {
    const value = follow(body, key);
    const empty = value === undefined || value === null || value === false || value === '' || value === 0;
    if (!empty && !(Array.isArray(value) && value.length === 0))
      return { pointer: at(key), text: `${lastKey(key)}: ${brief(value)}` };
  }
  for (const key of ['/ok', '/success', '/succeeded']) {
    if (follow(body, key) === false) return { pointer: at(key), text: `${lastKey(key)} is false` };
  }
  const exit = follow(body, '/exit_code') ?? follow(body, '/exitCode') ?? follow(body, '/returncode');
  if (typeof exit === 'number' && exit !== 0) return { pointer: at('/exit_code'), text: `exit code ${exit}` };
  for (const key of ['/status', '/status_code', '/statusCode', '/state']) {
    const value = follow(body, key);
    if (typeof value === 'string' && failedWords.test(value))
      return { pointer: at(key), text: `${lastKey(key)} is "${value}"` };
    if (/^[45]\d\d$/.test(leafText(value) ?? ''))
      return { pointer: at(key), text: `status ${leafText(value)}` };
  }
  // That a job in a list has failed is what a reader asked for; that a part of a change has failed is a failure.
  const part = isWriting(step)
    ? leavesOf(body).find(
        ({ pointer, text }) => /^(?:status|state)$/i.test(lastKey(pointer)) && failedWords.test(text),
      )
    : undefined;
  if (part) return { pointer: at(part.pointer), text: `${part.pointer} is "${part.text}"` };
  const texts = ['/text', '/content', '/message', '/result', '/stdout', '/stderr'];
  const said = texts.find((key) => failedText.test(leafText(follow(body, key)) ?? ''));
  return said === undefined
    ? undefined
    : { pointer: at(said), text: firstLine(leafText(follow(body, said)) ?? '') };
}

/** Whether words say that something was not allowed. */
export function isRefusal(text: string): boolean {
  return refusal.test(text);
}

/** A value in a few words. */
export function brief(value: unknown, length = 60): string {
  const text = typeof value === 'string' ? `"${value}"` : (JSON.stringify(value) ?? 'nothing');
  return text.length <= length ? text : `${text.slice(0, length - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
}

function firstLine(text: string): string {
  return brief(text.trim().split('\n')[0] ?? '').replaceAll(/^"|"$/g, '');
}

/** Whether words say that something which was named does not exist or does not fit. */
export function isUnknownThing(text: string): boolean {
  return /not found|no such|does(?: not|n't) exist|unknown|unrecogni[sz]ed|nonexistent|cannot find|could not find|no \w+ (?:with|named|for)|\b404\b|mismatch|does not match|undefined/i.test(
    text,
  );
}

const writing =
  /(?:^|[_-])(?:write|edit|update|set|save|put|patch|delete|move|rename|insert|append|replace|pay|charge|refund|transfer|send|post|create|add|book|order|increment|submit|issue|deposit|withdraw)(?:$|[_-])/i;

/** Whether a step changes the world: by its effects, by what its tool declares, or, in a record without that, by its name. */
export function isWriting(step: Step): boolean {
  if (step.effects.some(({ kind }) => kind !== 'process')) return true;
  if (step.declared === undefined) return writing.test(step.name);
  return step.declared === 'write' || step.declared === 'external';
}

/** Whether words say that what was known is not what is there now. */
export function isAboutChange(text: string): boolean {
  return /no longer|out ?dated|stale|has changed|changed (?:since|meanwhile)|conflict|not (?:the )?current|superseded|older than|newer (?:version|revision)|(?:version|revision|etag|snapshot)\b[^.]{0,40}\b(?:mismatch|expected|differs?)/i.test(
    text,
  );
}

/** Whether words find fault with a value, and not with the way to whoever judged it. */
export function isAboutValue(text: string): boolean {
  if (isUnknownThing(text)) return true;
  return /invalid|illegal|malformed|pars(?:e|able|ing)|must (?:be|not)|expected|refused|rejected|implausible|outside|exceed|out of range|too (?:large|small|long|short|many|few|high|low|much)|\b(?:over|under|more|less|greater|smaller) (?:than )?the\b|\bmore than\b|\bless than\b|not (?:allowed|valid|supported|a member|offered)|no longer|differs?|contradict|bad value|duplicate/i.test(
    text,
  );
}
