/**
 * Texts that stop too early: JSON whose brackets stay open, a table whose last row is short, a page whose end tag is missing,
 * a length that only a limit gives.
 */

const limits = new Set([
  256, 500, 512, 1000, 1024, 2000, 2048, 4000, 4096, 5000, 8000, 8192, 10_000, 16_000, 16_384, 20_000, 30_000,
  32_768, 50_000, 65_536, 100_000,
]);

/** Whether a length is one at which programs cut. */
export function isRound(length: number): boolean {
  return limits.has(length);
}

/** Whether a text breaks off: the first look, which costs little for texts that do not. */
export function isBroken(text: string): boolean {
  return brokenOff(text) !== undefined;
}

/** How a text breaks off, in words; undefined when it does not. */
export function brokenOff(text: string): string | undefined {
  const first = text.trimStart()[0];
  if (first === '{' || first === '[')
    return isCutJson(text) ? 'it begins as JSON and stops in the middle' : undefined;
  if (first === '<') return isCutMarkup(text) ? 'its first tag is never closed' : undefined;
  const fence = text.match(/^```/gm)?.length ?? 0;
  if (fence % 2 === 1) return 'its last code block is never closed';
  return hasShortRow(text) ? 'its last row has fewer fields than the others' : undefined;
}

/** JSON that stops: its first bracket stays open to the end; of JSON Lines, that of the last line. */
function isCutJson(text: string): boolean {
  if (/[\]}]\s*$/.test(text)) return false;
  if (staysOpen(text)) return true;
  const lines = text.trimEnd().split('\n');
  return isJson(lines[0] ?? '') && staysOpen(lines.at(-1) ?? '');
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Begins as an object or a list does, unlike a log whose lines begin with `[INFO]` or a time in brackets. */
function staysOpen(text: string): boolean {
  if (!/^\s*(?:\{\s*(?:"|$)|\[\s*(?:["{[\d-]|true\b|false\b|null\b|$))/.test(text)) return false;
  let open = 0;
  for (const [sign] of text.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"?|[{}[\]]/gs)) {
    if (sign === '{' || sign === '[') open++;
    else if ((sign === '}' || sign === ']') && --open === 0) return false;
  }
  return true;
}

function isCutMarkup(text: string): boolean {
  const head = text.replace(/^\s*(?:<\?[^>]*\?>|<!doctype[^>]*>|<!--[\s\S]*?-->|\s)+/i, '');
  const tag = /^<([a-z][\w:.-]*)[^>]*(?<!\/)>/i.exec(head)?.[1];
  return tag !== undefined && !head.toLowerCase().includes(`</${tag.toLowerCase()}`);
}

/** A text whose beginning was taken out says so in its first line. */
export const cutHead =
  /^\s*(?:[([<{*#=-]{1,3}|…|\.\.\.)[^\n]{0,80}\b(?:omitted|truncated|skipped|elided|removed|earlier|previous|above)\b|^\s*\[?(?:…|\.\.\.)\]?\s|^[^\n]{0,20}(?:省略|截断|前略)/i;

const leastText = 400;
const leastSentences = 4;

/** A long text of sentences that stops within one. */
export function endsInMidSentence(text: string): boolean {
  if (text.length < leastText || !/[\p{L}\p{N},–-]$/u.test(text)) return false;
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const ended = lines.slice(0, -1).filter((line) => /[.!?。！？]["'”’)]?\s*$/.test(line)).length;
  if (lines.length > leastSentences) return ended >= 0.9 * (lines.length - 1);
  return (text.match(/[.!?]\s|[。！？]/g)?.length ?? 0) >= leastSentences;
}

const leastRows = 4;

/** A table in text: every row has as many separators as the first, only the last one has fewer. */
function hasShortRow(text: string): boolean {
  if (!text.includes('\n') || text.endsWith('\n')) return false;
  const rows = text.split('\n');
  if (rows.length < leastRows) return false;
  for (const separator of [',', ';', '\t', '|']) {
    const fields = (row: string): number => row.split(separator).length;
    const usual = fields(rows[0] ?? '');
    if (usual < 3 || !rows.slice(0, -1).every((row) => fields(row) === usual)) continue;
    return fields(rows.at(-1) ?? '') < usual;
  }
  return false;
}
