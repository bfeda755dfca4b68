/** What a text says about how much of something it holds: `page 2 of 3`, `1-20 of 57`, `rows: 9`, `2 more rows`. */

export interface Claim {
  /** `page`: it is one of so many. `part`: it holds so much of so much. `rows`: it has so many rows. `more`: more is to come. */
  readonly kind: 'page' | 'part' | 'rows' | 'more';
  readonly range: readonly [number, number];
  /** Which one, or how much is there; what it says it has for `rows`. */
  readonly here: number;
  readonly of: number;
}

const of_ = '(?:of|out of|von|de|di|du|sur|av|af|van|z|ze|из|/|от|中|の)';
const page = `(?:page|pages|part|sheet|chunk|seite|teil|página|pagina|parte|strona|część|страница|часть|页|第|ページ|페이지)`;
const pageOf = new RegExp(
  `\\b${page}\\s*:?\\s*(\\d+)\\s*${of_}\\s*(\\d+)|第?\\s*(\\d+)\\s*(?:页|ページ|페이지)\\s*[,，/]?\\s*共?\\s*(\\d+)`,
  'iu',
);
const partOf = new RegExp(
  `(?<![\\d.:/-])(?:\\d+\\s*[-–]\\s*)?(\\d{1,9})\\s+${of_.replace('/|', '')}\\s+(\\d{1,9})(?![\\d.:/-])`,
  'iu',
);
const rowsSaid =
  /(?:^|\n)[#\s/*-]*\b(?:rows?|records?|items?|entries|lines|count|total|results?|matches|zeilen|anzahl|filas|righe|lignes|wiersze|строк|行数|总数|件数)\b\s*(?:count)?\s*[:=]\s*(\d{1,9})\b/iu;
const more =
  /\b(?:\d+|some|many|few)?\s*(?:more|further|remaining|weitere|autres|suivant\w*|más|mais|altri|altre|więcej|kolejn\w+|ещё|далее|以下|続き|더)\b[^\n]{0,60}$|\b(?:to be )?continue[ds]?\b[^\n]{0,60}$|\bnext (?:page|part|chunk|cursor|token)\b[^\n]{0,60}$/iu;

/** The first claim of a text about its own extent. */
export function claimIn(text: string): Claim | undefined {
  const ends = text.length > 1200 ? `${text.slice(0, 600)}\n${text.slice(-600)}` : text;
  if (!/\d/.test(ends) && !/more|continue|next/i.test(ends)) return undefined;
  const paged = pageOf.exec(ends);
  if (paged) return claim(text, 'page', paged[0], Number(paged[1] ?? paged[3]), Number(paged[2] ?? paged[4]));
  const part = partOf.exec(ends);
  if (part && Number(part[1]) < Number(part[2]))
    return claim(text, 'part', part[0], Number(part[1]), Number(part[2]));
  const rows = rowsSaid.exec(ends);
  if (rows) return claim(text, 'rows', rows[0].trim(), Number(rows[1]), Number(rows[1]));
  // Only where it ends does a text say that there is more of it.
  const last = ends.trimEnd().slice(ends.trimEnd().lastIndexOf('\n') + 1);
  const found = last.length <= 120 && ends.includes('\n') ? more.exec(last) : null;
  return found ? claim(text, 'more', last, 0, 0) : undefined;
}

function claim(text: string, kind: Claim['kind'], said: string, here: number, of: number): Claim {
  const at = Math.max(0, text.lastIndexOf(said));
  return { kind, range: [at, at + said.length], here, of };
}
