/** `chassis ls`: which sessions there are. One that cannot be read is listed with the reason. */
import type { SessionSummary, Store } from '@chassis/journal';
import { usage } from '../failure.ts';
import type { Output } from '../output.ts';
import { inColourOf } from '../present/mark.ts';
import { whileWaiting } from '../progress.ts';
import type { Call, Ending } from '../reference/spec.ts';
import { existingStore } from '../store.ts';
import { paint, screenWidth } from '../terminal/screen.ts';
import { type Column, table } from '../terminal/table.ts';
import { truncate, visible } from '../terminal/text.ts';
import { bytes, count, moment, money, since } from '../terminal/units.ts';

interface Options {
  readonly failed?: true;
  readonly outcome?: string;
  readonly grep?: string;
  readonly model?: string;
  readonly since?: string;
  readonly limit?: string;
}

const outcomes = ['ok', 'failed', 'cancelled', 'interrupted', 'running', 'ready', 'unreadable'];

export async function ls({ options, globals, out }: Call<Options>): Promise<Ending> {
  const wanted = filterOf(options);
  const limit = limitOf(options.limit);
  const store = existingStore(globals);
  const text = options.grep === undefined ? 'reading sessions…' : 'searching sessions…';
  const found = await whileWaiting(out, text, collect(store, wanted, options.grep, limit, out));
  await store.close();
  if (!out.json) print(found, out);
  return { result: { sessions: found.length } };
}

async function collect(
  store: Store,
  wanted: (session: SessionSummary) => boolean,
  grep: string | undefined,
  limit: number,
  out: Output,
): Promise<readonly SessionSummary[]> {
  const found: SessionSummary[] = [];
  if (limit === 0) return found;
  for await (const session of store.list()) {
    if (!wanted(session)) continue;
    if (grep !== undefined && !(await holds(store, session, grep))) continue;
    found.push(session);
    out.record({ type: 'session', ...session });
    await out.drained();
    if (found.length >= limit) break;
  }
  return found;
}

function filterOf({ failed, outcome, model, since: when }: Options): (session: SessionSummary) => boolean {
  if (outcome !== undefined && !outcomes.includes(outcome))
    throw usage(`--outcome ${outcome}: it is one of ${outcomes.join(', ')}`);
  const after = when === undefined ? undefined : since(when, Date.now());
  if (when !== undefined && after === undefined)
    throw usage(`--since ${when}: write a span back from now (90s, 30m, 12h, 2d, 1w) or a date (2026-11-30)`);
  return (session) =>
    (failed !== true || session.outcome === 'failed') &&
    (outcome === undefined || session.outcome === outcome) &&
    (model === undefined || session.model.includes(model)) &&
    (after === undefined || session.updated >= after);
}

function limitOf(text: string | undefined): number {
  if (text === undefined) return Number.POSITIVE_INFINITY;
  if (/^\d+$/.test(text)) return Number(text);
  throw usage(`--limit ${text}: it must be a whole number`);
}

/** Whether the title or any line of the record holds the text. Lines are searched as they stand: nothing is parsed. */
async function holds(store: Store, session: SessionSummary, text: string): Promise<boolean> {
  if (session.title.includes(text)) return true;
  if (session.outcome === 'unreadable') return false;
  const escaped = JSON.stringify(text).slice(1, -1);
  try {
    const reader = await store.reader(session.id);
    for await (const line of reader.lines()) if (line.includes(escaped) || line.includes(text)) return true;
  } catch {
    // A record that cannot be read to its end holds nothing further; `verify` says why.
  }
  return false;
}

function print(found: readonly SessionSummary[], out: Output): void {
  if (found.length === 0) {
    out.note('no sessions: chassis run "…" makes one');
    return;
  }
  const width = screenWidth();
  const columns: readonly Column[] = [
    { title: 'id', shrinkTo: 6 },
    { title: 'last active', drop: 4 },
    { title: 'outcome', paint: (cell, row) => inColourOf(found[row]?.outcome ?? 'ok', cell) },
    { title: 'title', shrinkTo: 8 },
    { title: 'model', shrinkTo: 8, drop: 5 },
    { title: 'steps', align: 'right', drop: 6 },
    { title: 'tokens', align: 'right', drop: 7 },
    { title: 'cost', align: 'right', drop: 8 },
    { title: 'size', align: 'right', drop: 9 },
  ];
  const rows = found.map((session) => [
    session.id,
    moment(session.updated),
    session.outcome,
    titleOf(session),
    visible(session.model),
    String(session.steps),
    session.tokens.input + session.tokens.output === 0
      ? ''
      : `${count(session.tokens.input)}→${count(session.tokens.output)}`,
    money(session.cost_usd),
    bytes(session.bytes),
  ]);
  const [head = '', ...lines] = table(columns, rows, width);
  out.line(paint('dim', head));
  for (const [row, line] of lines.entries()) {
    out.line(line);
    const problem = found[row]?.problem;
    if (problem !== undefined)
      out.line(paint('yellow', truncate(`  ${visible(problem)}`, width ?? Number.POSITIVE_INFINITY)));
  }
}

function titleOf(session: SessionSummary): string {
  const from = session.parent === undefined ? '' : `⑂${session.parent.step} `;
  return from + truncate(visible(session.title), 60);
}
