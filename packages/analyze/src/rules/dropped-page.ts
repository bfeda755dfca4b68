/** Something was left out between pages: a number or cursor was skipped, more was announced and not fetched, or the rows are fewer than the total. */
import type { Step } from '@chassis/journal';
import type { Column } from '../columns.ts';
import { isNumber, leavesOf } from '../json.ts';
import { opened } from '../opened.ts';
import { follow, lastKey, parentOf, pointer } from '../pointer.ts';
import type { Rule, Suspect } from './rule.ts';

const pageName =
  /^(?:page|page_?(?:no|num|number|index)|offset|start|skip|cursor|page_?token|after|from|p|pg|part|chunk|segment|sheet|batch|volume|teil|часть|seite|página|pagina|页|页码|ページ)$/i;
const nextName =
  /^(?:next|next_?(?:page|cursor|token|continuation_?token|marker|page_?token|offset|link|url|key|start)|(?:@odata\.)?nextLink|cursor|continuation|continuation_?token|last_?evaluated_?key)$/i;
const moreName =
  /^(?:has_?(?:more|next|next_?page)|more|more_?available|is_?last_?page|last_?page_?reached|is_?last)$/i;
/** Of these, those that are false when there is more. */
const lastName = /last/i;
/** Names of how many are still to come. */
const leftName =
  /^(?:remaining|left|rest|more|outstanding|restantes?|restanti|verbleibend|pozostało|осталось|剩余|残り)$/i;
const pagesName = /^(?:pages|total_?pages|page_?count|num_?pages|last_?page)$/i;
/** Names that may also say something else: they count only when they are near to what is there. */
const countName =
  /^(?:count|size|length|cardinality|num(?:ber)?(?:_?of)?_\w+|num|n|n_\w+|\w+_?count|anzahl|quantity|cantidad|numero|nombre|ilość|liczba|количество|数量|件数|개수)$/i;
const totalName =
  /^(?:total|total_?(?:count|rows|items|results|hits|records|size|elements)|count_?total|num_?found|insgesamt|合计|总数)$/i;

export const droppedPage: Rule = {
  name: 'dropped-page',
  *find({ tools }) {
    for (const { name, calls, fresh, columns } of tools) {
      const pages = fresh.filter(({ status }) => status === 'ok');
      const tells = (what: RegExp): boolean => columns.some(({ key, shape }) => isNamed(shape, key, what));
      yield* skipped(name, pages, calls);
      if (tells(nextName) || tells(moreName) || tells(leftName) || hasCursor(pages, columns))
        yield* announced(name, pages);
      yield* full(name, pages);
      if (tells(totalName)) yield* tooFew(name, pages, totalName);
      else if (tells(countName)) yield* tooFew(name, pages, countName);
      if (tells(pagesName)) yield* fewerPages(name, pages);
    }
  },
};

/** Of what has its number in a member of its own (`total: { value: 31 }`) the outer name counts. */
function isNamed(path: string, key: string, what: RegExp): boolean {
  return what.test(key) || (/^(?:value|count|n)$/.test(key) && what.test(lastKey(parentOf(path))));
}

/** Page 1, 2, 4: the third was never asked for, or asked for once and not given. */
function* skipped(tool: string, pages: readonly Step[], calls: readonly Step[]): Generator<Suspect> {
  const asked = pages.flatMap((step) => {
    const at = pagePlace(step);
    const value = at === undefined ? undefined : follow(step.input, at);
    return at !== undefined && typeof value === 'number' ? [{ step, at, value }] : [];
  });
  const values = new Set(asked.map(({ value }) => value));
  const sorted = [...values].sort((a, b) => a - b);
  const low = sorted[0];
  // Pages count by one. Offsets count by something, which takes three of them to see.
  const byOne = asked.every(({ at }) =>
    /page|^pg?$|part|chunk|segment|sheet|batch|volume|teil|часть|seite|página|pagina|页|ページ/i.test(
      lastKey(at),
    ),
  );
  if (low === undefined || sorted.length < 2) return;
  const steps = sorted.slice(1).map((value, index) => value - (sorted[index] ?? value));
  const least = steps.reduce((least, step) => Math.min(least, step), Number.POSITIVE_INFINITY);
  // With as many rows as a page has, the next begins that much further on.
  const rows = asked.find(({ value }) => value === low)?.step;
  const held = rows && rowsOf(rows)?.count;
  const byRows = held !== undefined && held > 0 && least % held === 0 ? held : undefined;
  const stride = byOne ? 1 : (byRows ?? (sorted.length > 2 ? least : undefined));
  if (stride === undefined) return;
  for (const { step, at, value } of asked) {
    if (value === low || values.has(value - stride)) continue;
    const refused = calls.findLast(({ input, error }) => error && follow(input, at) === value - stride);
    if (refused) {
      const failed = `${tool} did not give ${lastKey(at)} ${value - stride} (${refused.error?.name}), and was not asked for it again`;
      yield { step: refused.number, pointer: '/error/message', text: failed, score: 0.7, kind: 'missing' };
      continue;
    }
    const text = `${tool} was asked for ${lastKey(at)} ${value}; ${value - stride} was left out`;
    yield { step: step.number, pointer: `/input${at}`, value, text, score: 0.7, kind: 'missing' };
  }
}

/** The result named a next page, or said that there is more, and nobody fetched it. */
function* announced(tool: string, pages: readonly Step[]): Generator<Suspect> {
  const asked = new Set(pages.flatMap(({ input }) => leavesOf(input).map(({ text }) => text)));
  for (const [index, step] of pages.entries()) {
    // What comes next is a page only where this is one: a result with rows.
    if (!rowsOf(step)) continue;
    const leaves = leavesOf(opened(step.output), '/output');
    const next = leaves.find(
      ({ pointer, value }) =>
        (nextName.test(lastKey(pointer)) || (typeof value === 'string' && isCursor(pointer, step, pages))) &&
        isSet(value),
    );
    const more = leaves.find(
      ({ pointer, value }) =>
        (moreName.test(lastKey(pointer)) && value === !lastName.test(lastKey(pointer))) ||
        (leftName.test(lastKey(pointer)) && typeof value === 'number' && value > 0),
    );
    const at = next ?? more;
    const unread = next
      ? !asked.has(next.text) && !isReached(pages, next.text)
      : more && index === pages.length - 1;
    if (!at || !unread) continue;
    const says = next ? `names ${next.text} as what comes next` : 'says that there is more';
    const text = `the result of ${tool} ${says}, and nobody asked for it`;
    yield { step: step.number, pointer: at.pointer, value: at.value, text, score: 0.72, kind: 'missing' };
  }
}

/** A member at the top of a result that is named as an argument of other calls, and is not the one that was given. */
function isCursor(path: string, step: Step, pages: readonly Step[]): boolean {
  const key = lastKey(path);
  if (path !== `/output${pointer(key)}` || pages.length < 2) return false;
  const own = follow(step.input, pointer(key));
  const given = follow(step.output, path.slice('/output'.length));
  return own !== given && pages.some(({ input }) => typeof follow(input, pointer(key)) === 'string');
}

/** Whether results name at their top what calls are given under the same name. */
function hasCursor(pages: readonly Step[], columns: readonly Column[]): boolean {
  const asked = new Set(pages.slice(0, mostAsked).flatMap(({ input }) => Object.keys(Object(input))));
  return (
    pages.length > 1 &&
    columns.some(
      ({ shape, key, looks }) => asked.has(key) && shape === `/output${pointer(key)}` && looks.has('text'),
    )
  );
}

const mostAsked = 50;

/** A URL or path that holds what a later call asked for is reached too. */
function isReached(pages: readonly Step[], next: string): boolean {
  return pages.some((step) => {
    const at = pagePlace(step);
    const value = at === undefined ? undefined : follow(step.input, at);
    return (typeof value === 'number' || typeof value === 'string') && next.endsWith(`=${value}`);
  });
}

/** The pages together hold fewer rows than the total that they state. */
function* tooFew(tool: string, pages: readonly Step[], named: RegExp): Generator<Suspect> {
  const counted = pages.flatMap((step) => {
    const rows = rowsOf(step);
    const total = leavesOf(opened(step.output)).find(
      ({ pointer, value }) => isNamed(pointer, lastKey(pointer), named) && typeof value === 'number',
    );
    return rows && total ? [{ step, rows, total: Number(total.text) }] : [];
  });
  const paged = counted.length === 1 || counted.every(({ step }) => pagePlace(step) !== undefined);
  const total = counted[0]?.total ?? 0;
  const held = counted.reduce((sum, { rows }) => sum + rows.count, 0);
  if (!paged || counted.some((page) => page.total !== total) || held === 0 || held >= total) return;
  const sure = named === totalName;
  if (!sure && (total > 4 * held + 10 || !Number.isInteger(total))) return;
  const most = counted.reduce((largest, { rows }) => Math.max(largest, rows.count), 0);
  const short = counted.slice(0, -1).find(({ rows }) => rows.count < most) ?? counted.at(-1);
  if (!short) return;
  const text = `${held} of the ${total} rows that ${tool} states are there; ${short.rows.count} here`;
  yield {
    step: short.step.number,
    pointer: short.rows.pointer,
    text,
    score: sure ? 0.7 : 0.56,
    kind: 'missing',
  };
}

const limitName =
  /^(?:limit|top|take|first|max|max_?(?:results|rows|items|count)|page_?size|per_?page|n|count|size|rows)$/i;
const leastRows = 5;
/** How many rows tools give at most when nobody says. */
const usualLimits = new Set([50, 100, 200, 250, 500, 1000]);

/** As many rows as were asked for at most, and nothing says that these are all. */
function* full(tool: string, pages: readonly Step[]): Generator<Suspect> {
  for (const step of pages) {
    const limit = leavesOf(step.input).find(
      ({ pointer: at, value }) => limitName.test(lastKey(at)) && typeof value === 'number',
    );
    const rows = limit || pages.length === 1 ? rowsOf(step) : undefined;
    if (!limit && rows && usualLimits.has(rows.count) && pages.length === 1) {
      const text = `exactly ${rows.count} rows, and nothing says that these are all`;
      yield { step: step.number, pointer: rows.pointer, text, score: 0.5, kind: 'missing' };
    }
    if (!limit || !rows || rows.count < leastRows || rows.count !== limit.value) continue;
    const text = `${tool} gave as many rows as it was asked for at most (${rows.count}): there may be more`;
    yield { step: step.number, pointer: rows.pointer, text, score: 0.54, kind: 'missing' };
  }
}

/** A result says that it is one of so many pages, and the next one was never asked for. */
function* fewerPages(tool: string, pages: readonly Step[]): Generator<Suspect> {
  const last = pages.at(-1);
  const at =
    last &&
    leavesOf(opened(last.output), '/output').find(({ pointer: place }) => pagesName.test(lastKey(place)));
  if (!last || !at || typeof at.value !== 'number') return;
  const place = pagePlace(last);
  const asked = place === undefined ? 1 : follow(last.input, place);
  const got = pages.length;
  if (typeof asked !== 'number' || got >= at.value || asked >= at.value) return;
  const text = `the result of ${tool} is page ${asked} of ${at.value}, and the next was not asked for`;
  yield { step: last.number, pointer: at.pointer, value: at.value, text, score: 0.7, kind: 'missing' };
}

/** The one list of a result, at its top or in its one wrapping. */
function rowsOf(step: Step): { pointer: string; count: number } | undefined {
  return listIn(opened(step.output), '/output', 0);
}

/** What a result calls its rows, where it has other lists as well. */
const rowsName = /^(?:rows|records|items|results|hits|entries|values|data)$/i;

function listIn(value: unknown, at: string, depth: number): { pointer: string; count: number } | undefined {
  if (Array.isArray(value)) return depth === 0 ? { pointer: at, count: value.length } : undefined;
  if (typeof value !== 'object' || value === null || depth > 3) return undefined;
  const members = Object.entries(value);
  const lists = members.filter(([, member]) => Array.isArray(member));
  const [key, rows] = (lists.length === 1 ? lists[0] : lists.find(([name]) => rowsName.test(name))) ?? [];
  if (key !== undefined && Array.isArray(rows)) {
    const [text] = rows.length === 1 ? (rows as readonly { text?: unknown }[]) : [];
    const wrapped =
      typeof text?.text === 'object'
        ? listIn(text.text, `${at}${pointer(key, 0, 'text')}`, depth + 1)
        : undefined;
    return wrapped ?? { pointer: at + pointer(key), count: rows.length };
  }
  for (const [name, member] of members) {
    const found = Array.isArray(member) ? undefined : listIn(member, at + pointer(name), depth + 1);
    if (found) return found;
  }
  return undefined;
}

function pagePlace(step: Step): string | undefined {
  const { input } = step;
  if (typeof input !== 'object' || input === null) return undefined;
  for (const key of Object.keys(input)) if (pageName.test(key)) return pointer(key);
  for (const { pointer } of leavesOf(step.input)) if (pageName.test(lastKey(pointer))) return pointer;
  return undefined;
}

function isSet(value: unknown): boolean {
  return (typeof value === 'string' && value !== '') || (isNumber(value) && value !== 0);
}
