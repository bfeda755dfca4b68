/** What a result looks like from outside: a failure in the guise of a success, a refusal, a cut text. */
import { peek, type Step } from '@chassis/journal';
import type { Json } from '@chassis/types';
import { leafText, leavesOf } from '../json.ts';
import { opened } from '../opened.ts';
import { follow, lastKey, pointer } from '../pointer.ts';

export interface Finding {
  readonly pointer: string;
  readonly text: string;
}

const failedWords =
  /^(?:error|fail|failed|failure|exception|fatal|denied|rejected|timeout|timed_out|unavailable|aborted|fehler|fehlgeschlagen|erreur|échec|失败|错误|エラー|失敗)$/i;
const failedText =
  /^\s*(?:\[?error\]?\b\s*[:\-!]|traceback \(most recent|(?:[A-Za-z]*(?:Error|Exception))\s*:|fatal:|failed to |(?:fehler|erreur)\s*[:\-!]|(?:错误|失败|异常|エラー)\s*[:：!！]|<(?:!doctype html[^>]*>\s*<)?html[^>]*>[\s\S]{0,400}<title>[^<]*(?:error|[45]\d\d|not found|forbidden|unavailable|sign in|log ?in))/i;
const refusal =
  /permission denied|access (?:is )?denied|no access|not permitted|operation not permitted|forbidden|unauthori[sz]ed|not authori[sz]ed|not accessible|(?:insufficient|missing|lacks?|without|no) (?:the )?(?:permission|scope|privilege|right|role)s?|(?:do|does) ?n[o']t have (?:the )?(?:permission|access|right|privilege)s?|requires? (?:the )?(?:role|scope|permission|admin|owner|login|privilege)|must be (?:an? )?(?:admin|owner|member)|hidden (?:because|for lack|by policy)|not (?:visible|shown) to|\bEACCES\b|\bEPERM\b|(?:status|http|code|error)\W{0,3}\b40[13]\b|\b40[13] (?:forbidden|unauthorized)|zugriff verweigert|keine berechtigung|nicht berechtigt|accès (?:refusé|interdit)|acceso denegado|permiso denegado|доступ запрещ|brak uprawnie|permesso (?:mancante|negato)|accesso negato|non autorizzat|sem permissão|acesso negado|não autorizad|sin permiso|no autorizad|geen (?:toegang|rechten)|ingen (?:behörighet|adgang)|нет (?:прав|доступа)|недостаточно прав|권한이 없|접근 (?:권한|거부)|droits? insuffisants?|non autorisé|fehlende (?:rechte|berechtigung)|(?:is|are|was|were) (?:private|restricted|confidential|hidden|redacted|masked)|权限不足|没有权限|无权|拒绝访问|権限がありません|アクセスが拒否/i;

const known = new WeakMap<
  Step,
  { readonly finished: number | undefined; readonly found: Finding | undefined }
>();

/**
 * A successful step's output that says it failed; its own words.
 * @param output the step's output with the documents in it opened, when it is at hand
 * @param recorded the same as it stands
 */
export function failureInside(step: Step, output?: Json, recorded?: Json): Finding | undefined {
  if (step.status !== 'ok' || step.kind !== 'tool') return undefined;
  const { finished } = step.seq;
  let entry = known.get(step);
  if (entry?.finished !== finished || !entry) {
    entry = {
      finished,
      found:
        foundInside(step, output ?? opened(step.output)) ?? endsInFailure(recorded ?? peek(step, 'output')),
    };
    known.set(step, entry);
  }
  return entry.found;
}

/** The members whose values tell how a call went. */
const telling =
  /^(?:error|errors|error_message|exception|ok|success|succeeded|exit_?code|exit|exit_?status|returncode|rc|retcode|errno|err_?code|error_?code|status|status_code|statusCode|state|text|content|message|result|stdout|stderr|failed|failures|rejected|skipped|unprocessed|not_processed|dropped|invalid|ignored|body|output|response|data|meta|log|structuredContent)$/;

function foundInside(step: Step, output: Json | undefined): Finding | undefined {
  if (typeof output === 'object' && output !== null && !isWriting(step)) {
    let tells = false;
    for (const key of Object.keys(output)) tells ||= telling.test(key);
    if (!tells) return undefined;
  }
  if (typeof output === 'string') {
    return failedText.test(output) ? { pointer: '/output', text: firstLine(output) } : undefined;
  }
  const body = output;
  const at = (key: string): string => `/output${key}`;
  // What a call came to stands at the top, or in the envelope's one inner part.
  for (const part of [
    '',
    '/result',
    '/structuredContent',
    '/result/structuredContent',
    '/response',
    '/response/body',
    '/body',
    '/data',
    '/meta',
    '/status',
    '/content/0/text',
  ]) {
    const inner = part === '' ? body : follow(body, part);
    if (typeof inner !== 'object' || inner === null || Array.isArray(inner)) continue;
    const found = envelopeFailure(inner);
    if (found) return { pointer: at(part + found.pointer), text: found.text };
  }
  // That a job in a list has failed is what a reader asked for; that a part of a change has failed is a failure.
  const turned = isWriting(step) ? turnedAwayIn(body) : undefined;
  if (turned) return turned;
  const part = isWriting(step)
    ? leavesOf(body).find(
        ({ pointer, text }) => /^(?:status|state)$/i.test(lastKey(pointer)) && failedWords.test(text),
      )
    : undefined;
  if (part) return { pointer: at(part.pointer), text: `${part.pointer} is "${part.text}"` };
  const texts = [
    '/text',
    '/content',
    '/content/0/text',
    '/message',
    '/result',
    '/stdout',
    '/stderr',
    '/body',
    '/output',
    '/response',
    '/data',
    '/log',
  ];
  const said = texts.find((key) => failedText.test(leafText(follow(body, key)) ?? ''));
  return said === undefined
    ? undefined
    : { pointer: at(said), text: firstLine(leafText(follow(body, said)) ?? '') };
}

const lastLines = 3;
const failedEnd =
  /(?:^|[\s:*[(])(?:fatal|error|erreur|fehler|errore|błąd|ошибка)\s*(?::|\d|\])|\b(?:FAILED|FAILURE|ABORTED)\b|\bException\b:|\b(?:exit(?:ed)?|exit (?:code|status)|returned|status) (?:with )?(?:code |status )?[1-9]\d{0,2}\s*$|: (?:command not found|no such file or directory|cannot \w+|not permitted|connection refused)/i;
const excuse =
  /^\s*(?:(?:we are |i am |i'm |we're )?(?:very )?sorry\b|unfortunately|unable to|could ?n[o']t|cannot\b|can'?t\b|failed\b|something went wrong|an? (?:unexpected |internal )?error (?:occurred|has occurred)|leider|désolé|malheureusement|lo sentimos|no se pudo|spiacenti|impossibile|não foi possível|nie udało|не удалось|к сожалению|抱歉|很抱歉|无法|申し訳|죄송)/i;
/** Elements that stand for a failure. */
const failedMarkup =
  /<(?:[\w-]+:)?(?:fault|faultstring|error|exception)\b[^>]*>\s*(?:<[^>]*>\s*)*([^<]{0,80})/i;

/** A text of a few lines that ends as a failed program ends, or markup that holds a fault. */
function endsInFailure(output: unknown): Finding | undefined {
  const texts =
    typeof output === 'string'
      ? [['', output] as const]
      : typeof output === 'object' && output !== null && !Array.isArray(output)
        ? Object.entries(output).flatMap(([key, text]) =>
            typeof text === 'string' ? [[pointer(key), text] as const] : [],
          )
        : [];
  for (const [key, text] of texts) {
    if (text.length < 4 || text.length > 20_000) continue;
    const fault = text.trimStart().startsWith('<') ? failedMarkup.exec(text.slice(0, 2000)) : null;
    if (fault) return { pointer: `/output${key}`, text: brief(fault[1]?.trim() || fault[0]) };
    if (text.length < 300 && excuse.test(text)) return { pointer: `/output${key}`, text: firstLine(text) };
    const lines = text.trimEnd().split('\n').slice(-lastLines);
    // A word alone is the state of what was looked at.
    const line = lines.findLast((one) => one.length < 300 && /\s/.test(one.trim()) && failedEnd.test(one));
    // A table or a list of errors is what a reader asked for; what ends a program's words is its own.
    if (line !== undefined && !/^\s*[-|{[]|[,;|].*[,;|].*[,;|]/.test(line))
      return { pointer: `/output${key}`, text: firstLine(line) };
  }
  return undefined;
}

function envelopeFailure(body: object): Finding | undefined {
  for (const key of ['/error', '/errors', '/error_message', '/exception', '/failures']) {
    const value = follow(body, key);
    const empty = value === undefined || value === null || value === false || value === '' || value === 0;
    if (!empty && !(Array.isArray(value) && value.length === 0))
      return { pointer: key, text: `${lastKey(key)}: ${brief(value)}` };
  }
  for (const key of [
    '/skipped',
    '/rejected',
    '/failed',
    '/unprocessed',
    '/not_processed',
    '/dropped',
    '/invalid',
    '/ignored',
  ]) {
    const value = follow(body, key);
    // Entries that were left out, each with its reason.
    const [first] = Array.isArray(value) ? (value as readonly unknown[]) : [];
    if (
      typeof first === 'object' &&
      first !== null &&
      Object.keys(first).some((name) => /why|reason|error|message|cause|code/i.test(name))
    )
      return { pointer: key, text: `${lastKey(key)}: ${brief(value)}` };
    if (typeof first === 'string' && (key === '/rejected' || key === '/failed'))
      return { pointer: key, text: `${lastKey(key)}: ${brief(value)}` };
  }
  for (const key of ['/ok', '/success', '/succeeded']) {
    const value = follow(body, key);
    if (value === false || value === 'false')
      return { pointer: key, text: `${lastKey(key)} is false${reasonIn(body)}` };
  }
  for (const key of ['/failed', '/rejected']) {
    const value = follow(body, key);
    if (value === true || (typeof value === 'number' && value > 0))
      return { pointer: key, text: `${lastKey(key)} is ${value}` };
  }
  for (const key of [
    '/exit_code',
    '/exitCode',
    '/exit',
    '/returncode',
    '/rc',
    '/retcode',
    '/errno',
    '/errcode',
    '/err_code',
    '/error_code',
    '/errorCode',
    '/exit_status',
  ]) {
    const exit = follow(body, key);
    if (typeof exit === 'number' && exit !== 0)
      return { pointer: key, text: `exit code ${exit}${reasonIn(body)}` };
  }
  for (const key of ['/status', '/status_code', '/statusCode', '/state']) {
    const value = follow(body, key);
    if (typeof value === 'string' && failedWords.test(value))
      return { pointer: key, text: `${lastKey(key)} is "${value}"` };
    if (/^[45]\d\d$/.test(leafText(value) ?? '')) return { pointer: key, text: `status ${leafText(value)}` };
  }
  return undefined;
}

const turnedAway =
  /^\/(?:[^/]+\/)?(?:rejected|failed|undelivered|bounced|unprocessed\w*|not_?found|refused)(?:\/[^/]+)?\/\d+(?:\/|$)/i;

/** An effect of several parts, of which some were turned away. */
function turnedAwayIn(body: Json | undefined): Finding | undefined {
  const turned = leavesOf(body).find(({ pointer: at, text }) => text !== '' && turnedAway.test(at));
  return (
    turned && {
      pointer: `/output${turned.pointer}`,
      text: `${turned.pointer.slice(1)}: ${brief(turned.text)}`,
    }
  );
}

/** The words beside a mark of failure. */
function reasonIn(body: object): string {
  for (const key of ['/message', '/msg', '/reason', '/detail', '/description', '/stderr']) {
    const value = follow(body, key);
    if (typeof value === 'string' && value.trim() !== '') return `: ${firstLine(value)}`;
  }
  return '';
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
  return /not found|nicht gefunden|introuvable|no encontrad|不存在|未找到|找不到|見つかりません|no such|does(?: not|n't) exist|unknown|unrecogni[sz]ed|nonexistent|cannot find|could not find|no \w+ (?:with|named|for)|\b404\b|mismatch|does not match|undefined/i.test(
    text,
  );
}

const writing =
  /(?:^|[_-])(?:write|edit|update|set|save|put|patch|delete|move|rename|insert|append|replace|pay|charge|refund|transfer|send|post|create|add|book|order|increment|submit|issue|deposit|withdraw|reserve|cancel|close|merge|push|deploy|apply|commit|upload|import|release|publish|archive|assign|approve|register|schedule|reschedule|restart|rotate|grant|revoke|enable|disable|attach|lock|unlock|generate|make|draft|prepare|compose|produce)(?:$|[_-])/i;

/** Whether a step changes the world: by its effects, by what its tool declares, or, in a record without that, by its name. */
export function isWriting(step: Step): boolean {
  if (step.effects.some(({ kind }) => kind !== 'process')) return true;
  // That a tool changes nothing is often just what its author left standing.
  if (step.declared === undefined || step.declared === 'none') return writing.test(step.name);
  return step.declared === 'write' || step.declared === 'external';
}

/** Whether words say that what was known is not what is there now. */
export function isAboutChange(text: string): boolean {
  return /no longer|out[ -]?(?:of[ -])?date|stale|(?:has|have|was|were) (?:been )?(?:changed|modified|updated|edited)|(?:changed|modified|updated) (?:since|meanwhile)|in the meantime|non-fast-forward|concurrent|\b(?:409|412)\b|precondition failed|veraltet|inzwischen|zwischenzeitlich|entre-?temps|périmé|obsolète|obsoleto|entretanto|mientras tanto|nel frattempo|устарел|nieaktualn|gewijzigd|已(?:被)?(?:修改|更改|更新)|过期|変更されて|古い|변경되|conflict|not (?:the )?current|superseded|older than|newer (?:version|revision)|(?:version|revision|etag|snapshot)\b[^.]{0,40}\b(?:mismatch|expected|differs?)/i.test(
    text,
  );
}

/** Whether words find fault with a value, and not with the way to whoever judged it. */
export function isAboutValue(text: string): boolean {
  if (isUnknownThing(text)) return true;
  return /invalid|illegal|недопустим|неверн|odrzucon|nieprawidł|non accettat|non valid|não confere|inválid|사용할 수 없|잘못된|유효하지|ungültig|unzulässig|invalide|无效|不合法|非法|超出|不能|不正|malformed|pars(?:e|able|ing)|must (?:be|not)|expected|refused|rejected|implausible|outside|exceed|out of range|too (?:large|small|long|short|many|few|high|low|much)|\b(?:over|under|more|less|greater|smaller) (?:than )?the\b|\bmore than\b|\bless than\b|not (?:allowed|valid|supported|a member|offered|acceptable|accepted)|invalid|no válid|refused|abgelehnt|unzulässig|no longer|differs?|contradict|bad value|duplicate/i.test(
    text,
  );
}
